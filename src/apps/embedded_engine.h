#pragma once

namespace thalweg::apps {

/// Lets the C++ API start an engine inside this process (front/dataframe/embedded.h). Called once, before the first session.
void UseEmbeddedEngine();

}  // namespace thalweg::apps
