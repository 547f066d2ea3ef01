"""Window functions in SQL and in PySpark: names, types, answers and refusals.

`run(spark, tell)` tells labels and outcomes in order: recorded.jsonl is Spark's answer (record.py). An outcome is the schema and the rows, or the
condition, the SQLSTATE and the message of the error."""
import re

from pyspark.errors import PySparkException
from pyspark.sql import Window, functions as F

VIEW = """
create or replace temp view t as select * from values
 (1, 'a', 10, 1.0D, 'x', timestamp'2024-01-01 00:00:00', date'2024-01-01', 1.10BD, 1L),
 (2, 'a', 10, double('NaN'), 'y', timestamp'2024-01-01 00:10:00', date'2024-01-02', 2.20BD, 2L),
 (3, 'a', 20, -0.0D, null, timestamp'2024-01-01 00:20:00', date'2024-01-04', null, 5L),
 (4, 'a', null, 0.0D, 'x', timestamp'2024-01-01 01:00:00', date'2024-02-01', 3.30BD, 9223372036854775807L),
 (5, 'b', 5, double('NaN'), 'z', timestamp'2024-01-02 00:00:00', date'2024-01-31', 0.01BD, -9223372036854775808L),
 (6, 'b', 7, null, null, null, null, 2.20BD, null),
 (7, 'b', 5, 2.5D, 'q', timestamp'2024-01-02 00:00:00', date'2024-02-29', -1.00BD, 3L),
 (8, null, 1, -1.5D, 'w', timestamp'2024-03-31 02:30:00', date'2024-03-31', 5.00BD, 3L),
 (9, null, null, 7.25D, '', timestamp'1969-12-31 23:59:59', date'1969-12-31', 6.50BD, 4L),
 (10, 'c', 100, double('Infinity'), 'ü', timestamp'2024-01-01 00:10:00', date'2024-01-02', 2.20BD, 2L),
 (11, 'a', 15, 1.0D, 'b', timestamp'2024-01-01 00:10:00', date'2024-01-02', 99999999.99BD, 4L),
 (12, 'b', 6, 3.0D, 'z', timestamp'2024-01-02 12:00:00', date'2024-03-01', 0.00BD, 6L)
 as t(id, k, v, d, s, ts, dt, n, l)
"""

# Each is `select id, ITEM from t order by id`.
ITEMS = """
row_number() over (partition by k order by v)
row_number() over (partition by k order by v desc, id)
row_number() over (order by id)
rank() over (partition by k order by v)
dense_rank() over (partition by k order by v)
percent_rank() over (partition by k order by v)
cume_dist() over (partition by k order by v)
rank() over (order by v desc nulls last)
dense_rank() over (order by d)
rank() over (order by d desc)
rank() over (order by k, v)
ntile(2) over (partition by k order by v, id)
ntile(5) over (order by id)
ntile() over (order by id)
ntile(100) over (order by id)
lag(v) over (partition by k order by id)
lead(v) over (partition by k order by id)
lag(v, 2) over (partition by k order by id)
lead(v, 2, -1) over (partition by k order by id)
lag(v, 1, id) over (partition by k order by id)
lag(v, 0) over (order by id)
lag(v, -1) over (order by id)
lead(s, 1, 'none') over (order by id)
lag(v, 1, 5L) over (order by id)
lag(s) ignore nulls over (order by id)
lead(s) ignore nulls over (partition by k order by id)
lead(s, 2, '?') ignore nulls over (partition by k order by id)
lag(s, 1) respect nulls over (order by id)
lag(s, 0) ignore nulls over (order by id)
lag(v + 1, 1, v) over (order by id desc)
first(s) over (partition by k order by id)
first_value(s) ignore nulls over (partition by k order by id)
first(s, true) over (partition by k order by id)
last(s) over (partition by k order by id)
last_value(s) over (partition by k order by v)
last_value(s) ignore nulls over (partition by k order by id rows between unbounded preceding and current row)
last_value(s, true) over (order by id rows between 1 preceding and 1 following)
any_value(s) over (partition by k order by id)
nth_value(s, 2) over (partition by k order by id)
nth_value(s, 2) ignore nulls over (partition by k order by id)
nth_value(v, 3) over (partition by k order by id rows between unbounded preceding and unbounded following)
nth_value(s, 1) over (order by id rows between 1 preceding and 1 following)
count(*) over ()
count(v) over (partition by k)
count(*) over (partition by k order by v)
sum(v) over (partition by k)
sum(v) over (partition by k order by id)
sum(v) over (partition by k order by v)
sum(v) over (order by v)
sum(d) over (order by id)
sum(d) over (partition by k order by d)
sum(n) over (partition by k order by id)
avg(n) over (partition by k order by id)
avg(v) over (partition by k order by id rows between 1 preceding and 1 following)
sum(v) over (order by id rows between 2 preceding and current row)
sum(v) over (order by id rows between current row and 2 following)
sum(v) over (order by id rows between 2 preceding and 1 preceding)
sum(v) over (order by id rows between 1 following and 2 following)
sum(v) over (partition by k order by id rows between current row and unbounded following)
sum(v) over (partition by k order by id rows between unbounded preceding and 1 preceding)
sum(v) over (partition by k order by id rows between unbounded preceding and 1 following)
sum(v) over (partition by k order by id rows between 1 following and unbounded following)
sum(v) over (partition by k order by id rows 1 preceding)
sum(v) over (partition by k order by id rows unbounded preceding)
sum(v) over (partition by k order by v range current row)
sum(v) over (partition by k order by v range unbounded preceding)
sum(v) over (order by id rows between unbounded preceding and unbounded following)
sum(v) over (rows between unbounded preceding and unbounded following)
sum(v) over (rows between 1 preceding and current row)
sum(v) over (partition by k order by v range between 5 preceding and 5 following)
sum(v) over (order by v range between 5 preceding and current row)
sum(v) over (order by v desc range between 5 preceding and current row)
sum(v) over (order by v nulls last range between 5 preceding and 5 following)
sum(v) over (order by v desc nulls first range between 1 preceding and unbounded following)
sum(v) over (order by v range between unbounded preceding and 1 preceding)
sum(v) over (order by v range between 1 following and 10 following)
sum(v) over (order by v range between current row and unbounded following)
count(*) over (order by l range between 1 preceding and 1 following)
count(*) over (order by id range between 1L preceding and 1L following)
count(*) over (order by l range between 1 preceding and current row)
count(*) over (order by d range between 0.5 preceding and 0.5 following)
count(*) over (order by d range between 1 preceding and 1 following)
count(*) over (order by d range between 0.5D preceding and 0.5D following)
count(*) over (order by d desc range between 1.0D preceding and current row)
count(*) over (order by n range between 1 preceding and 1.5 following)
count(*) over (order by n range between 1.10BD preceding and current row)
count(*) over (order by dt range between 2 preceding and 1 following)
count(*) over (order by dt range between interval '2' day preceding and current row)
count(*) over (order by dt range between interval '1' month preceding and current row)
count(*) over (order by dt range between interval 1 month preceding and interval 3 day following)
count(*) over (order by ts range between interval '10' minute preceding and current row)
count(*) over (order by ts range between interval 1 hour preceding and interval 1 hour following)
count(*) over (order by ts range between interval '1' month preceding and current row)
count(*) over (order by ts desc range between interval 10 minutes preceding and interval 5 minutes following)
count(*) over (order by ts range between interval 1 month 2 days preceding and current row)
min(v) over (partition by k order by id rows between 1 preceding and 1 following)
max(s) over (partition by k order by id rows between 1 preceding and current row)
min(s) over (partition by k order by id)
collect_list(v) over (partition by k order by id)
collect_list(s) over (order by id rows between 1 preceding and 1 following)
sort_array(collect_set(s) over (partition by k))
stddev(v) over (partition by k order by id)
var_pop(v) over (order by id rows between 3 preceding and current row)
corr(v, d) over (partition by k)
percentile(v, 0.5) over (partition by k)
approx_count_distinct(s) over (partition by k)
bool_and(v > 6) over (partition by k order by id)
max_by(s, v) over (partition by k order by id)
count_if(v > 6) over (partition by k order by id)
mode(s) over (partition by k)
median(v) over (partition by k)
try_sum(l) over (order by id rows between unbounded preceding and 3 preceding)
sum(v) filter (where v > 6) over (partition by k order by id)
count(*) filter (where s is null) over (order by id)
sum(v) over (partition by k order by id) + row_number() over (partition by k order by id)
v / sum(v) over (partition by k)
coalesce(lag(v) over (order by id), 0) as previous
sum(1) over w window w as (partition by k order by id)
sum(v) over (w) window w as (partition by k)
sum(v) over a, avg(v) over b, rank() over b window a as (order by id), b as (partition by k order by v)
sum(v) over b window a as (order by id), b as a
row_number() over (distribute by k sort by id)
sum(v) over (cluster by k)
row_number() over (partition by k, v % 2 order by id desc) as r
row_number() over (partition by upper(k) order by v + id)
sum(v) over (partition by struct(k, s) order by id)
rank() over (order by struct(k, v))
rank() over (order by array(k, s))
sum(v) over (partition by 1 order by id)
sum(v) over (order by 1)
sum(v) over (partition by d order by id)
row_number() over (order by id) as r, r + 1 as q
case when row_number() over (order by id) = 1 then 'first' else s end as c
sum(sum(v) over (partition by k)) over (order by id)
lag(lag(v) over (order by id)) over (order by id)
row_number() over (order by row_number() over (order by id desc))
rank() over (order by sum(v) over (partition by k))
count(distinct v) over (partition by k)
sum(distinct v) over (partition by k order by id)
row_number()
rank() as r
lag(v)
ntile(2)
nth_value(v, 2)
first_value(v)
row_number() over ()
rank() over ()
dense_rank() over (partition by k)
percent_rank() over ()
cume_dist() over ()
ntile(2) over (partition by k)
lag(v) over ()
lead(v) over (partition by k)
nth_value(v, 2) over (partition by k)
rank(v) over (order by v)
dense_rank(1) over (order by v)
row_number(1) over (order by v)
lag() over (order by v)
lag(v, 1, 2, 3) over (order by v)
ntile(0) over (order by v)
ntile(-1) over (order by v)
ntile(null) over (order by v)
ntile(id) over (order by v)
ntile('a') over (order by v)
ntile(2L) over (order by v)
ntile(1, 2) over (order by v)
lag(v, id) over (order by v)
lag(v, null) over (order by v)
lag(v, 'a') over (order by v)
lag(v, 1, 'x') over (order by v)
lag(v, 1, array(1)) over (order by v)
nth_value(v, 0) over (order by v)
nth_value(v, id) over (order by v)
nth_value(v) over (order by v)
nth_value(v, null) over (order by v)
row_number() over (order by v rows between 1 preceding and current row)
row_number() over (order by v range between unbounded preceding and current row)
row_number() over (order by v rows between unbounded preceding and current row)
rank() over (order by v rows between current row and unbounded following)
lag(v) over (order by v rows between 2 preceding and current row)
lag(v) over (order by v rows between 1 preceding and 1 preceding)
lead(v) over (order by v rows between 1 following and 1 following)
cume_dist() over (order by v range between unbounded preceding and current row)
cume_dist() over (order by v rows between unbounded preceding and current row)
sum(v) over (order by v rows between 1 following and 1 preceding)
sum(v) over (order by v rows between 1 preceding and 2 preceding)
sum(v) over (order by v rows between current row and 1 preceding)
sum(v) over (order by v rows between unbounded following and current row)
sum(v) over (order by v rows between current row and unbounded preceding)
sum(v) over (order by v rows between unbounded preceding and unbounded preceding)
sum(v) over (order by v rows between unbounded following and unbounded following)
sum(v) over (order by v rows between 1 following and current row)
sum(v) over (order by v rows 1 following)
sum(v) over (order by v rows between v preceding and current row)
sum(v) over (order by v rows between 1.5 preceding and current row)
sum(v) over (order by v rows between 1L preceding and current row)
sum(v) over (order by v rows between 'a' preceding and current row)
sum(v) over (order by v rows between -1 preceding and current row)
sum(v) over (order by v rows between 1 - 2 preceding and 1 + 1 following)
sum(v) over (order by v rows between null preceding and current row)
sum(v) over (order by v rows between interval '1' day preceding and current row)
sum(v) over (range between 1 preceding and current row)
sum(v) over (range between unbounded preceding and current row)
sum(v) over (order by v, id range between 1 preceding and current row)
sum(v) over (order by v, id range between unbounded preceding and current row)
sum(v) over (order by s range between 1 preceding and current row)
sum(v) over (order by s range between current row and unbounded following)
sum(v) over (order by v range between 1.5 preceding and current row)
sum(v) over (order by v range between 1L preceding and current row)
sum(v) over (order by v range between interval '1' day preceding and current row)
sum(v) over (order by dt range between interval '1' hour preceding and current row)
sum(v) over (order by dt range between 1.5 preceding and current row)
sum(v) over (order by ts range between 1 preceding and current row)
sum(v) over (order by ts range between interval '2' day following and interval '1' day following)
sum(v) over (order by v range between 2 following and 1 following)
sum(v) over (order by v range between 1 preceding and 2.0 following)
upper(s) over (order by id)
v over (order by id)
(v + 1) over (order by id)
explode(array(1)) over (order by id)
nofunction(v) over (order by id)
sum(v) over nowhere
sum(v) over (nowhere)
sum(v) over w window w as (order by id), w as (order by v)
sum(v) over w window w as (order by id), W as (order by v)
sum(v) over w window w as x
sum(v) over w window w as y, y as (order by id)
sum(v) over W window w as (order by id)
sum(v) over (partition by nope)
sum(nope) over (partition by k)
sum(v) over (order by map(k, v))
sum(v) over (partition by map(k, v))
sum(v) ignore nulls over (order by id)
row_number() ignore nulls over (order by id)
count(*) respect nulls over (order by id)
upper(s) ignore nulls
rank() ignore nulls over (order by id)
max(s) ignore nulls over (order by id)
row_number() filter (where v > 1) over (order by id)
lag(v) filter (where v > 1) over (order by id)
upper(s) filter (where v > 1) over (order by id)
distinct row_number() over (order by id)
row_number(distinct) over (order by id)
lag(distinct v) over (order by id)
sum(row_number() over (order by id)) over (order by id)
sum(v) filter (where row_number() over (order by id) > 1) over (order by id)
sum(v) over (order by sum(v))
first(s) ignore nulls over (partition by k order by id desc)
last(s, true) ignore nulls over (order by id)
first_value(s, true) over (order by id)
any_value(s) ignore nulls over (order by id desc)
array_agg(v) ignore nulls over (order by id)
grouping(k) over (order by id)
window(ts, '1 hour') as w, count(*) over (partition by window(ts, '1 hour'))
listagg(s, ',') over (partition by k)
string_agg(s) over (order by id)
monotonically_increasing_id() over (order by id)
lag(v, 2147483647) over (order by id)
lead(v, 3000000000) over (order by id)
sum(v) over (order by id rows between 3000000000 preceding and current row)
sum(v) over (order by id rows between 2147483647 preceding and 2147483647 following)
sum(v) over (order by v range between 2147483647 preceding and 2147483647 following)
""".strip().split("\n")

QUERIES = """
select * from (select *, row_number() over (partition by k order by v desc, id) as rn from t) where rn = 1 order by id
select * from (select id, k, row_number() over (partition by k order by id) as rn from t) where k = 'a' and rn < 3 order by id
select id, k, v from t qualify row_number() over (partition by k order by v desc nulls last, id) = 1 order by id
select id, k, row_number() over (partition by k order by id) as rn from t qualify rn = 1 order by id
select id, k from t qualify id = 1
select k, sum(v) from t group by k qualify rank() over (order by sum(v) desc) = 1
select k, count(*) from t group by k having count(*) > 1 qualify row_number() over (order by k) = 1
select id from t qualify sum(v) over w > 30 window w as (partition by k) order by id
select id from t window w as (partition by k) qualify sum(v) over w > 30 order by id
select k, sum(v), sum(sum(v)) over (order by k) from t group by k order by k
select k, sum(v) as s, rank() over (order by sum(v) desc) as r from t group by k order by r, k
select k, avg(sum(v)) over (partition by k is null order by k) as a from t group by k order by k
select k, v % 2 as p, count(*) as c, sum(count(*)) over (partition by k) as kc from t group by k, v % 2 order by k, p, c
select sum(v), sum(sum(v)) over () from t
select k, row_number() over (order by k) from t group by k order by 1
select distinct k, count(*) over (partition by k) as c from t order by k
select k, max(v) over (partition by k) from t group by k
select k, sum(v) over (order by k) from t group by k
select k, v, sum(v) over (order by k) from t group by k, v order by k, v
select k, row_number() over (order by v) from t group by k
select id from t where row_number() over (order by id) = 1
select id from t where id in (1, row_number() over (order by id))
select k, count(*) from t group by k having row_number() over (order by k) = 1
select count(*) from t group by row_number() over (order by id)
select row_number() over (order by id) as r, count(*) from t group by r
select row_number() over (order by id) as r, count(*) from t group by 1
select sum(row_number() over (order by id)) from t
select k, sum(count(*) over ()) from t group by k
select id from t order by row_number() over (order by id desc)
select id from t order by rank() over (order by v), id
select id, v from t order by sum(v) over (partition by k) desc, id
select k, sum(v) from t group by k order by rank() over (order by sum(v) desc), k
select id from t a join t b on row_number() over (order by a.id) = b.id
select a.id, row_number() over (order by a.id desc) as r from t a join t b on a.id = b.id order by 1
select id from t limit row_number() over (order by id)
select id from t distribute by row_number() over (order by id)
select * from values (row_number() over (order by 1)) as x(a)
select k, v, r from (select k, v, rank() over (partition by k order by v) as r from t where v is not null) where r = 2 order by k, v
with r as (select *, row_number() over (partition by k order by id desc) as rn from t) select x.id, y.id as other from r x join r y on x.k = y.k and x.rn = y.rn + 1 order by 1
select id, sum(v) over (partition by k order by id) as x, sum(v) over (partition by k order by id desc) as y, sum(v) over (partition by s) as z, count(*) over () as c from t order by id
select k, grouping(k) as g, sum(v) as s, rank() over (partition by grouping(k) order by sum(v) desc) as r from t group by rollup(k) order by g, r, k
select explode(array(1, 2)) as e, row_number() over (order by id) as r from t where id < 3
select id, row_number() over (order by id) from t where id < 0
select count(*) over () as c from t where id < 0
select row_number() over (order by 1) as r
select count(*) over () as c, sum(1) over (order by 1) as s
select * from (select k, v from t) pivot (max(v) for k in ('a', 'b'))
select id, k, row_number() over (partition by k order by id) from t where k = 'a'
select k, v, row_number() over (partition by k order by v) as r, rank() over (partition by k order by v) as q from t where v is not null
select t.*, lead(t.v) over (order by t.id) as nxt from t order by id limit 2
select id, sum(sum(l)) over (order by id) from t where l < 10 and l > 0 group by id order by id
select sum(l) over (order by id) from t
select sum(n) over (order by id rows between 1 preceding and current row) from t order by id
select id, sum(cast(n as decimal(38,2))) over (order by id) from t order by id
select * from t tablesample (100 percent) qualify 1 = row_number() over (order by id)
select all_same from (select count(*) over (partition by k) = count(*) over (partition by k) as all_same from t) limit 1
select id, `row_number() over (order by id)` from (select id, row_number() over (order by id) from t)
select id, row_number() over (partition by k order by id) as row_number from t order by row_number, id limit 3
""".strip().split("\n")


def frame_programs(spark):
    """DataFrames by name."""
    t = spark.table("t")
    k = Window.partitionBy("k")
    by_id = k.orderBy("id")
    far = 9223372036854775807
    for name, column in [
            ("row_number", lambda: F.row_number().over(k.orderBy(F.col("v").desc(), "id"))),
            ("rank, nulls last", lambda: F.rank().over(Window.orderBy(F.col("v").asc_nulls_last()))),
            ("dense_rank alias", lambda: F.dense_rank().over(k.orderBy("v")).alias("r")),
            ("percent_rank", lambda: F.percent_rank().over(k.orderBy("v"))),
            ("cume_dist", lambda: F.cume_dist().over(k.orderBy("v"))),
            ("ntile", lambda: F.ntile(2).over(by_id)),
            ("lag", lambda: F.lag("v", 1, 0).over(by_id)),
            ("lead", lambda: F.lead("v", 2).over(by_id)),
            ("lag without frame order", lambda: F.lag("v").over(k)),
            ("nth_value", lambda: F.nth_value("s", 2, True).over(by_id)),
            ("first ignoring", lambda: F.first("s", ignorenulls=True).over(by_id)),
            ("last", lambda: F.last("s").over(by_id.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing))),
            ("sum over nothing", lambda: F.sum("v").over(Window.partitionBy())),
            ("sum", lambda: F.sum("v").over(k)),
            ("running", lambda: F.sum("v").over(by_id)),
            ("rows", lambda: F.sum("v").over(by_id.rowsBetween(-1, 1))),
            ("rows from the start", lambda: F.sum("v").over(by_id.rowsBetween(Window.unboundedPreceding, -1))),
            ("rows, larger than long", lambda: F.sum("v").over(by_id.rowsBetween(-(1 << 70), 1 << 70))),
            ("rows 3000000000", lambda: F.sum("v").over(by_id.rowsBetween(-3000000000, 0))),
            ("rows backwards", lambda: F.sum("v").over(by_id.rowsBetween(1, -1))),
            ("range", lambda: F.sum("v").over(k.orderBy("v").rangeBetween(-5, 5))),
            ("range from here", lambda: F.sum("v").over(k.orderBy("v").rangeBetween(Window.currentRow, Window.unboundedFollowing))),
            ("range 3000000000", lambda: F.count("*").over(Window.orderBy("l").rangeBetween(-3000000000, 3000000000))),
            ("range 3000000000 of ints", lambda: F.count("*").over(Window.orderBy("v").rangeBetween(-3000000000, 0))),
            ("range without order", lambda: F.sum("v").over(k.rangeBetween(-1, 1))),
            ("range of dates", lambda: F.count("*").over(Window.orderBy("dt").rangeBetween(-1, 1))),
            ("range of doubles", lambda: F.count("*").over(Window.orderBy("d").rangeBetween(-1, 1))),
            ("range of timestamps", lambda: F.count("*").over(Window.orderBy("ts").rangeBetween(-1, 1))),
            ("range of seconds", lambda: F.count("*").over(Window.orderBy(F.col("ts").cast("long")).rangeBetween(-600, 0))),
            ("expr", lambda: F.expr("sum(v) over (partition by k order by id)")),
            ("arithmetic", lambda: (F.col("v") - F.lag("v", 1).over(by_id)).alias("d")),
            ("distinct", lambda: F.countDistinct("v").over(k)),
            ("no window function", lambda: F.upper("s").over(k)),
            ("column over", lambda: F.col("v").over(k)),
            ("without over", lambda: F.row_number()),
            ("nested", lambda: F.sum(F.row_number().over(by_id)).over(by_id)),
            ("collect_list", lambda: F.collect_list("v").over(by_id)),
            ("udf-like expression", lambda: F.coalesce(F.max("v").over(k), F.lit(0))),
            ("rows of a descending order", lambda: F.avg("v").over(k.orderBy(F.desc("id")).rowsBetween(-1, 0))),
            ("min of window start", lambda: F.min(F.struct("v", "id")).over(k).getField("id")),
            ("when", lambda: F.when(F.row_number().over(by_id) == 1, "first").otherwise(F.col("s")))]:
        yield name, lambda column=column: t.select("id", column()).orderBy("id")
    yield "withColumn", lambda: t.withColumn("rn", F.row_number().over(by_id)).where("rn = 1").drop("rn").orderBy("id")
    yield "withColumns", lambda: t.select("id", "k").withColumns({"a": F.rank().over(by_id), "b": F.count("*").over(k)}).orderBy("id")
    yield "where", lambda: t.where(F.row_number().over(by_id) == 1)
    yield "orderBy", lambda: t.select("id").orderBy(F.row_number().over(Window.orderBy(F.desc("id"))))
    yield "groupBy a window", lambda: t.groupBy(F.row_number().over(by_id)).count()
    yield "agg of sums", lambda: t.groupBy("k").agg(F.sum("v").alias("s"), F.rank().over(Window.orderBy(F.sum("v").desc())).alias("r")).orderBy("k")
    yield "pinned columns", lambda: t.select(t["id"], F.row_number().over(Window.partitionBy(t["k"]).orderBy(t["id"])).alias("r")).orderBy("id")
    yield "join then window", lambda: t.alias("a").join(t.alias("b"), "id").select(
        "id", F.row_number().over(Window.partitionBy("a.k").orderBy("b.id")).alias("r")).orderBy("id")
    yield "filter below", lambda: t.withColumn("c", F.count("*").over(k)).where("k = 'a' and c > 1").select("id", "c").orderBy("id")
    yield "selectExpr", lambda: t.selectExpr("id", "row_number() over (partition by k order by id) as r").orderBy("id")
    yield "dropDuplicates of the first", lambda: t.select("k", F.first("id").over(by_id).alias("f")).distinct().orderBy("k")
    yield "agg", lambda: t.agg(F.sum(F.row_number().over(by_id)))
    yield "two orders", lambda: t.select("id", F.row_number().over(Window.orderBy("k", F.desc("id"))).alias("r")).orderBy("id")
    yield "window object in sql functions", lambda: t.select("id", F.lag(F.col("v") + 1, 2, 7).over(by_id).alias("r")).orderBy("id")


def message_of(error):
    text = str(error).split("\n")[0] if error.getCondition() != "PARSE_SYNTAX_ERROR" else ""
    text = re.sub(r"#\d+L?", "#n", text)
    return re.sub(r"^\[[A-Z0-9_.]+\] ", "", re.sub(r" SQLSTATE: \w+.*", "", text))


def outcome(make):
    try:
        frame = make()
        schema = [[field.name, field.dataType.simpleString(), field.nullable] for field in frame.schema]
        return {"schema": schema, "rows": [[plain(value) for value in row] for row in frame.collect()]}
    except PySparkException as error:
        return {"error": error.getCondition(), "state": error.getSqlState(), "message": message_of(error)}


def plain(value):
    if isinstance(value, float):
        return repr(round(value, 12) if value == value and abs(value) < 1e12 else value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def run(spark, tell):
    spark.sql(VIEW).collect()
    for item in ITEMS:
        body, _, window = item.partition(" window w as ") if " window w as " in item else item.partition(" window a as ")
        clause = item[len(body):]
        tell(item, outcome(lambda: spark.sql(f"select id, {body} from t{clause} order by id")))
    for query in QUERIES:
        tell(query, outcome(lambda: spark.sql(query)))
    for name, make in frame_programs(spark):
        tell("df: " + name, outcome(make))
