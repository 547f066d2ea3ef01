floor(1.5D)
floor(-1.5)
floor(5)
floor(cast('NaN' as double))
floor(123.456, 1)
floor(123.456, -1)
ceil(1.2D)
ceil(-1.5)
ceiling(1.1)
ceil(123.456, 1)
round(2.5D)
round(2.5)
round(-2.5D)
round(3.14159D, 2)
round(125, -1)
round(125.5, -1)
round(1.005D, 2)
round(1234567L, -3)
round(127Y, -1)
bround(2.5D)
bround(3.5)
bround(25, -1)
round(cast(1.25 as float), 1)
round(null, 1)
sqrt(4)
sqrt(-1)
cbrt(27)
exp(1)
expm1(1e-10)
ln(10)
ln(0)
ln(-1)
log(10, 100)
log(10)
log2(8)
log10(1000)
log1p(0)
log1p(-1)
pow(2, 10)
power(2, 0.5)
pow(0, 0)
sin(1)
cos(1)
tan(1)
cot(1)
sec(1)
csc(1)
asin(1)
acos(1)
atan(1)
atan2(1, 2)
sinh(1)
cosh(1)
tanh(1)
asinh(1)
acosh(2)
atanh(0.5)
degrees(3.141592653589793D)
radians(180)
rint(2.5D)
hypot(3, 4)
sign(-5)
sign(0)
signum(2.5)
sign(interval '-1' day)
pi()
e()
factorial(5)
factorial(21)
abs(-1.5)
abs(-5)
abs(interval '-1' day)
shiftleft(1, 3)
shiftright(-8, 1)
shiftrightunsigned(-8, 1)
shiftleft(1L, 40)
1 << 33
bit_count(7)
bit_count(-1)
bit_count(true)
getbit(5, 2)
getbit(5, 64)
rand(0)
rand(42)
randn(0)
5 & 3L
~5L
pmod(-7, 3)
pmod(7, -3)
pmod(-7.5D, 2D)
pmod(1, 0)
pmod(-1.5, 1.0)
1.5 % 0
1.5D % 0D
1D / 0D
7 div 2
-7 div 2
7.5 div 2
9223372036854775807L * 2L
1.5 + 2
1.5 - 2L
1.5 * 2.25
10 / 3
10.0 / 3
cast(10 as decimal(10,2)) / cast(3 as decimal(10,2))
cast(1 as decimal(38,37)) + cast(1 as decimal(38,0))
cast(1 as decimal(38,18)) * cast(1 as decimal(38,18))
cast(1 as decimal(38,18)) / cast(3 as decimal(38,18))
1 + 1.5D
1Y + 1S
1L + 1
typeof(1Y + 1)
typeof(1 + 1.5BD)
typeof(1.5BD + 1D)
typeof(cast(1 as decimal(10,2)) + 1)
typeof(array(1,2))
typeof(map('a',1.5))
typeof(null)
typeof(struct(1 as a))
typeof(interval '1' day)
null + 1
null + null
nanvl(cast('NaN' as double), 5)
nvl(null, 1)
ifnull(null, 'x')
nullifzero(0)
zeroifnull(null)
coalesce(null, null)
coalesce(null, 1, 1/0)
if(true, 1, 1/0)
case when false then 1/0 else 2 end
case 1 when 1 then 'a' when 2 then 'b' end
false and 1/0 > 1
true or 1/0 > 1
null or true
null and true
1 in (1, 1/0)
3 in (1, 2, null)
3 not in (1, 2)
1 in (null)
'a' in ('b', 'a')
1.0 in (1, 2)
greatest('a', 'b')
greatest(1, 2.5D, null)
least(date'2020-01-01', date'2019-01-01')
greatest(1)
cast('NaN' as double) = cast('NaN' as double)
cast('NaN' as double) > 1
0.0D = -0.0D
array(1,2) = array(1,2)
struct(1 as a) < struct(2 as a)
array(1, null) = array(1, null)
null <=> null
1 <=> 1
'a' < 'B'
true > false
raise_error('boom')
assert_true(1 = 1)
assert_true(1 = 2)
assert_true(false, 'no')
