try_cast('1.5' as int)
cast(127Y + 1Y as int)
2147483647 + 1
9223372036854775807 + 1
127Y * 2Y
cast(1.5 as int)
cast(300 as tinyint)
cast(1e10 as int)
cast('abc' as int)
cast('2020-13-01' as date)
cast(array(1,null,2) as string)
cast(map('a',1,'b',null) as string)
cast(named_struct('a',1,'b',null) as string)
1/0
1%0
1 div 0
1.0/0
5 / 2
5 div 2
-5 % 3
pmod(-5,3)
repeat('a', 2L)
repeat('a', '2')
upper(123)
upper(date'2020-01-01')
substring('hello', 1L)
length(123)
length(array(1))
abs(-128Y)
abs(-2147483648)
-(-2147483648)
'1' + 1
'1' + 1.5
'1' = 1
1 in ('1', 2)
coalesce(1, '2')
coalesce(1, 1.5, 2D)
array(1, '2')
array(1, 1.5)
if(true, 1, 'a')
case when true then 1 else 2.5 end
date'2020-01-01' - date'2019-01-01'
timestamp'2020-01-01' - timestamp'2019-12-31 12:00:00'
timestamp'2020-01-01' + interval 1 day
timestamp'2020-01-01' + interval '1' hour
date'2020-01-01' + interval 1 month
date'2020-01-01' + interval '1' hour
interval '1' day + interval '2' hour
interval '1' day * 2
interval '1' year / 2
1.1BD + 2.22BD
1.1BD * 2.22BD
1.1BD / 2.22BD
1.1BD % 2.22BD
cast(1 as decimal(38,10)) * cast(1 as decimal(38,10))
cast(99999999999999999999999999999999999999 as decimal(38,0)) + 1
cast('999' as decimal(2,0))
cast(999 as decimal(2,0))
cast(1 as boolean)
cast('t' as boolean)
cast(true as timestamp)
cast(date'2020-01-01' as int)
cast(1 as date)
cast(1 as timestamp)
cast(timestamp'2020-01-01' as int)
cast(array(1) as int)
cast(1.5 as timestamp)
array(1,2)[5]
array(1,2)[1]
map('a',1)['b']
map('a',1)['a']
element_at(array(1,2), 5)
element_at(array(1,2), 0)
element_at(map('a',1),'b')
named_struct('a',1).a
named_struct('a',1).b
struct(1, 'x' as y)
greatest(1, null, 3)
least(1, 2.5)
nullif(1, 1)
nvl2(null, 1, 2)
1 <=> null
not null
null and false
1 = 'abc'
true = 1
map(1,2) = map(1,2)
array(1) < array(2)
1 between 0 and 2
'a' like 'A'
'a_c' like 'a\\_c'
'abc' rlike 'b'
isnan(1)
positive(1)
+1
- 1.5
negative(3)
~5
5 & 3
5 | 3
5 ^ 3
5 << 1
upper()
upper('a', 'b')
try_add(2147483647, 1)
try_divide(1, 0)
try_divide(1.0, 0)
try_mod(1, 0)
try_subtract(-2147483648, 1)
try_multiply(2147483647, 2)
mod(7, 3)
cast(interval '10' day as int)
cast(5 as interval day)
cast('1 day' as interval)
cast(X'6162' as string)
cast('ab' as binary)
cast(1 as binary)
cast('NaN' as double)
cast(cast('NaN' as double) as int)
cast(cast('NaN' as double) as decimal(10,2))
1 + true
'a' + 'b'
'a' || 'b'
concat(1, 'a')
concat(array(1), array('a'))
date'2020-01-01' > timestamp'2019-01-01'
date'2020-01-01' > '2019-01-01'
