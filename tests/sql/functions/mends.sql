# Structs whose fields have other names.
struct(1 as a, 2 as b) = struct(1 as c, 2 as d)
named_struct('a',1) < named_struct('b',2)
named_struct('a',1) <=> named_struct('b',1L)
named_struct('a',1) in (named_struct('b',1), named_struct('c',2))
named_struct('a',3) in (named_struct('b',1), named_struct('c',2))
array(named_struct('a',1)) = array(named_struct('b',1))
named_struct('a',named_struct('k',1)) = named_struct('b',named_struct('m',1))
named_struct('a',1) between named_struct('b',0) and named_struct('c',5)
nullif(named_struct('a',1), named_struct('b',1))
named_struct('a',1) = named_struct('b',1, 'c', 2)
coalesce(named_struct('a',1), named_struct('b',2))
# Floating numbers as timestamps.
cast(3.4e38F as timestamp)
cast(-1e300D as timestamp)
cast(1e13D as timestamp)
unix_micros(cast(9223372036854.7D as timestamp))
try_cast(3.4e38F as timestamp)
try_cast(1e300D as timestamp)
# An error beside a constant NULL.
NULL + 1/0
1/0 + NULL
NULL * (2147483647 + 1)
NULL = 1/0
false and 1/0 > 1
true or 1/0 > 1
coalesce(1, 1/0)
# Sets have one zero.
array_union(array(-0.0D), array(0.0D, 1.0D))
array_distinct(array(-0.0D, 0.0D, 1.0D, null, null))
array_distinct(array(cast(-0.0 as float), cast('-0.0' as float)))
array_intersect(array(-0.0D, 1.0D, 1.0D, null, null), array(0.0D, null, 1.0D))
array_except(array(-0.0D, 1.0D, 1.0D), array(2.0D))
# Intervals by intervals.
interval '10' day div interval '3' day
interval '-10' day div interval '3' day
interval '1' year div interval '5' month
interval '1' day div interval '0' day
interval '1' year div interval '0' month
interval '1 02:03:04.5' day to second div interval '0.000001' second
cast(null as interval day) div interval '1' day
interval '178956970-7' year to month div interval '-1' month
!spark.sql.ansi.enabled=false
unix_micros(cast(3.4e38F as timestamp))
unix_micros(cast(-1e300D as timestamp))
unix_micros(cast(1e13D as timestamp))
NULL + 1/0
