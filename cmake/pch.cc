// Gives the precompiled header base/pch.h a library to belong to.
