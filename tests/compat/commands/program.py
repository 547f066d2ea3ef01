"""Statements that do something, the calls of spark.catalog, and the DataFrame functions that are plans over others.

`run(spark, root, warehouse, tell)` tells labels and outcomes in order: recorded.jsonl is Spark's answer (record.py). An outcome is the schema
and the rows, or the condition of the error. Times, users and sizes are left out."""
import re

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

VOLATILE = {"Created Time", "Owner", "Created By", "Statistics", "Last Access"}

DATABASES = """
create database d1 comment 'first' location 'ROOT/d1' with dbproperties (a = 'x', 'b.c' = 'y')
create database d1
create database if not exists d1
create schema d2
create namespace spark_catalog.d3
show databases
show schemas like 'd*'
show namespaces 'd1|d3'
show databases in spark_catalog like 'd2'
describe database d1
describe schema extended d1
describe namespace extended spark_catalog.d2
describe database nowhere
alter database d1 set dbproperties ('a' = 'z', q = 'r')
alter schema d1 unset dbproperties ('b.c')
describe database extended d1
alter database d2 set location 'ROOT/elsewhere'
describe database d2
alter database nowhere set dbproperties (a = 'b')
comment on database d2 is 'second'
comment on schema d2 is null
comment on namespace d3 is 'third'
describe database d3
use d2
select current_database(), current_schema(), current_catalog()
use spark_catalog.d3
show current namespace
use schema default
use nowhere
create table d2.t (a int) using parquet
drop database d2
drop database d2 restrict
drop database d2 cascade
drop database d2
drop schema if exists d2
drop database default
drop namespace d3
show catalogs
show catalogs like 'spark*'
show catalogs like 'no*'
use catalog spark_catalog
use catalog nowhere
set catalog spark_catalog
select current_schema()
create database `a b`
drop database nowhere.more
""".strip().split("\n")

TABLES = """
create table t1 (a int not null comment 'an a', b string, `c d` decimal(10,2)) using parquet comment 'the first' tblproperties ('k' = 'v', 'x.y' = '1')
create table t1 (a int) using json
create table if not exists t1 (a int) using json
create table t2 (a int, b string default 'x', p string, q int) using csv options (header 'true') partitioned by (p, q)
create table t3 using json location 'ROOT/t3' as select 1 as a, array(struct(2 as x)) as s
create table t4 (x int, y string) partitioned by (z date)
create table t5 (p int) using parquet partitioned by (nope)
create table t6 like t1
create table t6 like t1
create table if not exists t6 like t1
create table t7 like t2 using json location 'ROOT/t7' tblproperties ('n' = 'w')
create table t8 like nowhere
describe t6
describe t7
show tblproperties t6
show tblproperties t7
describe t1
describe table t2
desc extended t1
describe formatted t2
describe table extended t3
describe extended t4
describe t1 a
describe t1 b
describe extended t1 `c d`
describe t1 nope
describe t3 s
describe t3 s.x
describe nowhere
describe query select 1 as x, 'a' as y
describe select cast(null as decimal(3,1)) z
describe t2 partition (p = 'a', q = 1)
show create table t1
show create table t2
show create table t3
show create table t6
show create table nowhere
show columns in t1
show columns from t1 in default
show columns in default.t2
show columns in t1 from other
show columns in nowhere
show tables
show tables in default like 't1|t2'
show tables like 'x*'
show tables 't*'
show tables in nowhere
show table extended like 't1'
show table extended in default like 't2'
show table extended like 'x*'
show tblproperties t1
show tblproperties t1 (k)
show tblproperties t1 ('nope')
show tblproperties t2
alter table t1 set tblproperties ('k' = 'w', 'n' = 'm')
alter table t1 unset tblproperties ('x.y')
alter table t1 unset tblproperties ('x.y')
alter table t1 unset tblproperties if exists ('x.y')
show tblproperties t1
alter table t1 add columns (e date comment 'an e', f array<int>)
alter table t1 add column g int
alter table t1 add columns (A int)
alter table t2 add columns (r int)
describe t1
describe t2
alter table t1 alter column a comment 'changed'
alter table t1 change column b b string comment 'changed, too'
alter table t1 alter column b type int
alter table t1 rename column b to bb
alter table t1 drop column b
alter table t1 alter column nope comment 'x'
describe t1
alter table t6 rename to t66
alter table t66 rename to t1
alter table nowhere rename to t9
alter table t66 rename to default.t6
show tables like 't6*'
comment on table t1 is 'commented'
comment on table t6 is null
alter table t1 set location 'ROOT/t1moved'
describe extended t1
alter table t1 set serdeproperties ('a' = 'b')
alter table nowhere set tblproperties (a = 'b')
alter table nowhere add columns (a int)
insert into t2 values (1, 'one', 10, 'x', 1), (2, 'two', 20, 'y', 2)
show partitions t2
show partitions t2 partition (p = 'x')
show partitions t2 partition (nope = 'x')
show partitions t1
show partitions nowhere
alter table t2 add partition (p = 'z', q = 3)
alter table t2 add partition (p = 'z', q = 3)
alter table t2 add if not exists partition (p = 'z', q = 3) partition (p = 'z', q = 4)
alter table t2 add partition (p = 'z')
show partitions t2
alter table t2 drop partition (p = 'z', q = 4)
alter table t2 drop partition (p = 'z', q = 4)
alter table t2 drop if exists partition (p = 'z', q = 4)
alter table t2 drop partition (p = 'z')
alter table t2 partition (p = 'x', q = 1) rename to partition (p = 'xx', q = 11)
show partitions t2
select * from t2 order by a
describe t2 partition (p = 'xx', q = 11)
alter table t1 recover partitions
msck repair table t2
repair table t2
truncate table t2 partition (p = 'y')
select * from t2 order by a
show partitions t2
truncate table t2
select * from t2
truncate table nowhere
truncate table t1 partition (a = 1)
analyze table t1 compute statistics
analyze table t2 compute statistics noscan
analyze table t1 compute statistics for all columns
analyze table nowhere compute statistics
analyze tables in default compute statistics
drop table t6
drop table t6
drop table if exists t6
drop table t7 purge
create or replace table t1 (z int) using parquet
replace table t1 (z int) using parquet
drop table t5
""".strip().split("\n")

VIEWS = """
create table base (a int, b string) using parquet
insert into base values (1, 'x'), (2, 'y')
create view v1 as select a, b from base where a > 1
create view v1 as select 1
create view if not exists v1 as select 1
create or replace view v2 (x comment 'an x', y) comment 'a view' tblproperties ('k' = 'v') as select * from base
create view v3 (x) as select * from base
create view v4 as select * from nowhere
create view v5 as select a, a from base
create temp view w1 as select 1 as one
create temp view w1 as select 2 as two
create or replace temporary view w1 (uno comment 'one') as select 1 as one
create global temporary view g1 as select 3 as three
create temporary view w2 using json options (path 'ROOT/t3')
create temp view if not exists w1 as select 1
create temporary view db.w3 as select 1
select * from v1
select * from v2 order by x
select * from w1
select * from global_temp.g1
select count(*) from w2
describe v2
describe extended v1
desc formatted v2
describe w1
describe extended w1
describe v2 x
show create table v2
show create table v1
show create table w1
show views
show views like 'v*'
show views in global_temp
show views in default like 'w*'
show tables
show tables in global_temp
show columns in v2
show columns in w1
show tblproperties v2
show tblproperties w1
alter view v1 as select a + 1 as a1 from base
alter view w1 as select 5 as five
alter view nowhere as select 1
alter view base as select 1
select * from v1 order by a1
select * from w1
alter view v1 rename to v11
alter view w1 rename to w11
alter view v11 set tblproperties ('p' = 'q')
alter view v11 unset tblproperties ('p')
alter view nowhere rename to x
alter table v11 rename to v12
alter view base rename to base2
show views
insert into v11 values (1)
drop table v11
drop view base
drop view v11
drop view v11
drop view if exists v11
drop view w11
drop view global_temp.g1
create view v6 as select * from w2
create table base using parquet as select 1
drop table base
select * from v2
describe v2
drop view v2
drop view w2
cache table nowhere
""".strip().split("\n")

FUNCTIONS = """
show functions like 'abs'
show user functions
show system functions like 'to_da*'
show all functions 'substr*'
show functions in default like 'upper'
show functions nowhere
describe function abs
describe function extended upper
describe function nowhere
describe function `+`
describe function case
describe function between
create function f1 as 'org.example.F1'
create function f1 as 'org.example.F1'
create function if not exists f1 as 'org.example.F1'
create or replace function f1 as 'org.example.F2'
create temporary function f2 as 'org.example.F2'
show user functions
describe function f1
drop function f1
drop function f1
drop function if exists f1
drop temporary function if exists f2
drop function abs
drop temporary function abs
refresh function abs
refresh function nowhere
""".strip().split("\n")

SETTINGS = """
set spark.sql.shuffle.partitions = 7
set spark.sql.shuffle.partitions
set spark.sql.shuffle.partitions=abc
set some.own.key = some value; with more
set some.own.key
set some.other.key
set `some.quoted` = `a b`
reset some.own.key
set some.own.key
reset some.other.key
reset
set spark.sql.shuffle.partitions
set spark.sql.warehouse.dir = x
reset spark.sql.warehouse.dir
set time zone 'America/New_York'
select current_timezone()
set time zone interval 2 hours
select current_timezone()
set time zone interval '-08:30' hour to minute
select current_timezone()
set time zone local
set time zone 'nowhere'
set time zone interval 40 hours
set time zone 'UTC'
set mapred.reduce.tasks=5
set spark.sql.shuffle.partitions
""".strip().split("\n")

CACHES = """
create table c1 (a int) using parquet
insert into c1 values (1)
cache table c1
cache lazy table c1
cache table c2 as select 2 as b
cache table c2 as select 2 as b
cache table c3 options ('storageLevel' 'DISK_ONLY') select 3 as c
cache table c1 options ('storageLevel' 'NOWHERE')
cache table default.c4 as select 1
select * from c2
uncache table c1
uncache table c1
uncache table nowhere
uncache table if exists nowhere
refresh table c1
refresh table nowhere
refresh 'ROOT/somewhere'
refresh ROOT/some where
clear cache
drop view c2
drop view c3
drop table c1
""".strip().split("\n")

INSERTS = """
create table i1 (a int, p string, b string) using parquet partitioned by (p)
insert into i1 partition (p = 'zz') values (3, 'd')
insert into i1 partition (p = 'zz') (b, a) values ('dd', 33)
insert overwrite i1 partition (p = 'zz') values (4, 'e')
insert overwrite table i1 partition (p) values (5, 'f', 'pp')
select * from i1 order by a
insert into i1 partition (p = 'a'), (p = 'b') values (1, 'x')
insert into i1 partition (q = 'zz') values (3, 'd')
insert into i1 partition (p = 'zz') values (3, 'd', 'e')
insert into i1 partition (p = 'zz') values (3)
insert into i1 partition (p = null) values (7, 'n')
insert into i1 partition (p = 5) values (8, 'five')
insert into i1 by name select 'bb' as b, 6 as a, 'by' as p
insert into i1 by name select 9 as a, 'q' as p
insert into i1 by name select 9 as a, 'q' as p, 'x' as b, 1 as extra
insert into i1 by name select 9 as a, 9 as a, 'q' as p
insert into i1 partition (p = 'bn') by name select 'bb' as b, 66 as a
insert into i1 (p, a) values ('cols', 12)
insert into i1 (p, p, a) values ('cols', 'x', 12)
insert into i1 (nope) values (1)
insert into i1 values (1)
insert into i1 values ('text', 'a', 'b')
insert into i1 table i1
insert into i1 from i1 select a + 100, b, p where a = 5
select * from i1 order by a, p
show partitions i1
insert overwrite i1 partition (p = 'zz') if not exists values (1, 'kept')
insert overwrite i1 partition (p = 'ne') if not exists values (1, 'new')
select * from i1 where p in ('zz', 'ne') order by b
create table i2 using json as select a, b, p from i1 where a < 6
select * from i2 order by a, p
create table i2 using json as select 1
create table if not exists i2 using json as select 1
create table i3 (a int, b int, p int, q int) using parquet partitioned by (p, q)
insert into i3 partition (p = 1, q = 2) values (1, 1)
insert into i3 partition (p = 1, q) values (2, 2, 3)
insert overwrite i3 partition (p = 1, q) select 3, 3, 4
select * from i3 order by a
insert overwrite i3 values (9, 9, 9, 9)
select * from i3
insert overwrite i3 partition (q, p = 1) values (4, 4, 4)
select * from i3 order by a
create table i4 (a int) using delta
insert into i4 values (1)
insert overwrite i4 values (2)
select * from i4
truncate table i4
select * from i4
create table i5 (a int, p int) using delta partitioned by (p)
insert into i5 partition (p = 1) values (10)
insert into i5 partition (p = 2) values (20)
insert overwrite i5 partition (p = 1) values (11)
select * from i5 order by p, a
alter table i5 set tblproperties ('delta.appendOnly' = 'false', 'mine' = 'x')
show tblproperties i5 (mine)
alter table i5 add columns (c string comment 'a c')
describe i5
alter table i5 alter column c comment 'changed'
alter table i5 rename to i55
describe i55
comment on table i55 is 'a comment'
show columns in i55
show create table i55
drop table i55
drop table i4
drop table i3
drop table i2
drop table i1
""".strip().split("\n")

QUERIES = """
select * from values (1), (1), (2), (3), (3), (3), (null), (null) as t(a) except all select * from values (1), (3), (null) as t(a) order by 1
select * from values (1), (1), (2), (3), (3), (3), (null), (null) as t(a) intersect all select * from values (1), (1), (1), (3), (3), (null) as t(a) order by 1
select * from values (1, 'a'), (1, 'a') as t(a, b) minus all select 1, 'a'
select 1 except all select 1, 2
select * from (select * from values (1, 'x', 10), (1, 'y', 20), (2, 'x', 30) as t(k, c, v)) pivot (sum(v) for c in ('x', 'y')) order by k
select * from values (1, 'x', 10), (1, 'y', 20), (2, 'x', 30) as t(k, c, v) pivot (sum(v) as s, count(*) as n for c in ('x' as ex, 'z' zet)) order by k
select * from values (1, 'x', 10), (1, 'y', 20), (2, 'x', 30) as t(k, c, v) pivot (max(v) for (k, c) in ((1, 'x'), (2, 'x') as two))
select * from values (1, 'x', 10) as t(k, c, v) pivot (v for c in ('x'))
select * from values (1, 'x', 10) as t(k, c, v) pivot (sum(v) for nope in ('x'))
select * from values (1, 'x', 10) as t(k, c, v) pivot (sum(v) for c in (1))
select * from values (1, 2.5, 3), (4, null, 6) as t(id, a, b) unpivot (v for n in (a, b)) order by id, n
select * from values (1, 2.5, 3), (4, null, 6) as t(id, a, b) unpivot include nulls (v for n in (a as `A`, b as `B`)) as u order by id, n
select * from values (1, 2, 3, 4) as t(id, a, b, c) unpivot ((x, y) for n in ((a, b), (b, c) as bc)) order by n
select * from values (1, 'a', 3) as t(id, a, b) unpivot (v for n in (a, b))
select * from values (1, 2, 3) as t(id, a, b) unpivot (v for n in (nope))
select regr_avgx(y, x), regr_avgy(y, x), regr_count(y, x), regr_intercept(y, x), regr_r2(y, x), regr_slope(y, x), regr_sxx(y, x), regr_sxy(y, x), regr_syy(y, x) from values (1.0, 2.0), (2.0, 3.5), (4.0, null), (null, 1.0), (3.5, 7.0) as t(y, x)
select regr_avgx(y, x), regr_avgy(y, x), regr_count(y, x), regr_intercept(y, x), regr_r2(y, x), regr_slope(y, x), regr_sxx(y, x), regr_sxy(y, x), regr_syy(y, x) from values (1, 2), (2, 2), (4, 2) as t(y, x)
select regr_avgx(y, x), regr_avgy(y, x), regr_count(y, x), regr_intercept(y, x), regr_r2(y, x), regr_slope(y, x), regr_sxx(y, x), regr_sxy(y, x), regr_syy(y, x) from values (1, 2), (1, 3), (1, 5) as t(y, x)
select regr_avgx(y, x), regr_avgy(y, x), regr_count(y, x), regr_intercept(y, x), regr_r2(y, x), regr_slope(y, x), regr_sxx(y, x), regr_sxy(y, x), regr_syy(y, x) from values (1, cast(null as int)) as t(y, x)
select percentile_approx(v, array(0.0, 0.1, 0.5, 0.9, 1.0)), approx_percentile(v, 0.5, 100), percentile_approx(d, 0.5), percentile_approx(v, 0.5) filter (where v > 9) from values (1, date'2020-01-01'), (2, date'2021-01-01'), (7, null), (null, date'2022-01-01') as t(v, d)
select percentile_approx(v, 1.5) from values (1) as t(v)
select percentile_approx(v, 0.5, 0) from values (1) as t(v)
select k, percentile_approx(v, array(0.25, 0.75), 10000) from values ('a', 1.5), ('a', 2.5), ('b', null), ('a', 10.0) as t(k, v) group by k order by k
""".strip().split("\n")


def normal(text, root, warehouse):
    return re.sub(r"#\d+", "#N", text.replace(str(warehouse), "WAREHOUSE").replace(str(root), "ROOT"))


class Program:
    def __init__(self, spark, root, warehouse, tell):
        self.spark, self.root, self.warehouse, self.tell = spark, str(root), str(warehouse), tell

    def note(self, label, act):
        try:
            outcome = act()
        except PySparkException as error:
            outcome = {"error": error.getCondition() or type(error).__name__}
        except Exception as error:
            outcome = {"error": type(error).__name__}
        self.tell(label, outcome)

    def cell(self, value):
        if isinstance(value, str):
            kept = [line for line in normal(value, self.root, self.warehouse).split("\n") if line.split(":")[0] not in VOLATILE]
            return "\n".join(kept)
        if isinstance(value, float):
            return float(f"{value:.12g}")
        if isinstance(value, (list, tuple)):
            return [self.cell(v) for v in value]
        if isinstance(value, dict):
            return sorted([self.cell(k), self.cell(v)] for k, v in value.items())
        return value if isinstance(value, (int, bool, type(None))) else str(value)

    def frame(self, frame):
        schema = [[f.name, f.dataType.simpleString(), f.nullable] for f in frame.schema]
        return {"schema": schema, "rows": [self.cell(row) for row in map(list, frame.collect()) if not row or str(row[0]) not in VOLATILE]}

    def statements(self, lines):
        for line in lines:
            self.note(line, lambda: self.frame(self.spark.sql(line.replace("ROOT", self.root))))

    def catalog(self):
        c, spark = self.spark.catalog, self.spark

        def note(label, act):
            def done():
                value = act()
                if isinstance(value, list):
                    return [self.cell(list(v)) for v in value]
                return self.cell(list(value)) if isinstance(value, tuple) else self.cell(value)
            self.note(label, done)

        note("currentCatalog", c.currentCatalog)
        note("currentDatabase", c.currentDatabase)
        note("setCurrentCatalog", lambda: c.setCurrentCatalog("spark_catalog"))
        note("setCurrentCatalog nowhere", lambda: c.setCurrentCatalog("nowhere"))
        note("listCatalogs", c.listCatalogs)
        note("listCatalogs pattern", lambda: c.listCatalogs("no*"))
        note("createDatabase", lambda: c.createDatabase("cd", properties={"comment": "made", "a": "b"}))
        note("createDatabase again", lambda: c.createDatabase("cd"))
        note("createDatabase if not exists", lambda: c.createDatabase("cd", ifNotExists=True))
        note("listDatabases", c.listDatabases)
        note("listDatabases pattern", lambda: c.listDatabases("c*"))
        note("getDatabase", lambda: c.getDatabase("cd"))
        note("getDatabase qualified", lambda: c.getDatabase("spark_catalog.cd"))
        note("getDatabase nowhere", lambda: c.getDatabase("nowhere"))
        note("databaseExists", lambda: [[c.databaseExists(n) for n in ("cd", "spark_catalog.cd", "nowhere", "CD")]])
        note("setCurrentDatabase", lambda: c.setCurrentDatabase("cd"))
        note("setCurrentDatabase nowhere", lambda: c.setCurrentDatabase("nowhere"))
        spark.sql("create table ct (a int not null comment 'an a', p string) using parquet partitioned by (p) comment 'it' tblproperties ('k' = 'v')").collect()
        spark.sql("create view cv as select 1 as one").collect()
        spark.range(2).createOrReplaceTempView("cw")
        spark.range(2).createOrReplaceGlobalTempView("cg")
        note("listTables", c.listTables)
        note("listTables database", lambda: c.listTables("cd"))
        note("listTables pattern", lambda: c.listTables("cd", "c[tv]"))
        note("listTables nowhere", lambda: c.listTables("nowhere"))
        note("listTables global_temp", lambda: c.listTables("global_temp"))
        note("listViews", c.listViews)
        note("listViews pattern", lambda: c.listViews(pattern="c*"))
        note("listViews default", lambda: c.listViews("default"))
        note("getTable", lambda: [list(t) for t in (c.getTable("ct"), c.getTable("cd.ct"), c.getTable("spark_catalog.cd.cv"), c.getTable("cw"), c.getTable("global_temp.cg"))])
        note("getTable nowhere", lambda: c.getTable("nowhere"))
        note("getTable nowhere.t", lambda: c.getTable("nowhere.t"))
        note("tableExists", lambda: [[c.tableExists(n) for n in ("ct", "cd.ct", "spark_catalog.cd.ct", "cw", "global_temp.cg", "nowhere", "nowhere.t", "cv")]])
        note("tableExists database", lambda: [[c.tableExists("ct", "cd"), c.tableExists("ct", "default")]])
        note("listColumns", lambda: c.listColumns("ct"))
        note("listColumns view", lambda: c.listColumns("cw"))
        note("listColumns database", lambda: c.listColumns("ct", "cd"))
        note("listColumns nowhere", lambda: c.listColumns("nowhere"))
        note("functionExists", lambda: [[c.functionExists(n) for n in ("abs", "nowhere", "default.abs", "cd.nowhere", "Upper")]])
        note("getFunction", lambda: [list(c.getFunction("abs"))[:3]])
        note("getFunction nowhere", lambda: c.getFunction("nowhere"))
        note("listFunctions pattern", lambda: [[f.name, f.catalog, f.namespace, f.isTemporary] for f in c.listFunctions(pattern="to_date")])
        note("listFunctions nowhere", lambda: c.listFunctions("nowhere"))
        note("getTableProperties", lambda: c.getTableProperties("ct").get("k"))
        note("getTableProperties nowhere", lambda: c.getTableProperties("nowhere"))
        note("getCreateTableString", lambda: c.getCreateTableString("ct"))
        note("getCreateTableString serde", lambda: c.getCreateTableString("ct", True))
        spark.sql("insert into ct partition (p = 'x') values (1)").collect()
        note("listPartitions", lambda: c.listPartitions("ct"))
        note("listPartitions of a view", lambda: c.listPartitions("cv"))
        note("listPartitions nowhere", lambda: c.listPartitions("nowhere"))
        note("recoverPartitions", lambda: c.recoverPartitions("ct"))
        note("recoverPartitions nowhere", lambda: c.recoverPartitions("nowhere"))
        note("analyzeTable", lambda: c.analyzeTable("ct"))
        note("analyzeTable noscan", lambda: c.analyzeTable("ct", True))
        note("analyzeTable nowhere", lambda: c.analyzeTable("nowhere"))
        note("isCached", lambda: [[c.isCached("ct"), c.isCached("cw")]])
        note("isCached nowhere", lambda: c.isCached("nowhere"))
        note("cacheTable", lambda: c.cacheTable("ct"))
        note("cached", lambda: [[c.isCached("ct"), c.isCached("cd.ct"), c.isCached("cw")]])
        note("cacheTable nowhere", lambda: c.cacheTable("nowhere"))
        note("uncacheTable", lambda: c.uncacheTable("ct"))
        note("uncached", lambda: [[c.isCached("ct")]])
        note("uncacheTable nowhere", lambda: c.uncacheTable("nowhere"))
        note("refreshTable", lambda: c.refreshTable("ct"))
        note("refreshTable nowhere", lambda: c.refreshTable("nowhere"))
        note("refreshByPath", lambda: c.refreshByPath(self.root))
        note("clearCache", c.clearCache)
        note("truncateTable", lambda: c.truncateTable("ct"))
        note("truncated", lambda: spark.table("ct").count())
        note("truncateTable nowhere", lambda: c.truncateTable("nowhere"))
        note("truncateTable view", lambda: c.truncateTable("cv"))
        note("dropTempView", lambda: [[c.dropTempView("cw"), c.dropTempView("cw")]])
        note("dropGlobalTempView", lambda: [[c.dropGlobalTempView("cg"), c.dropGlobalTempView("cg")]])
        note("createTable", lambda: c.createTable("made", schema=spark.range(1).schema, source="parquet", description="of ids").count())
        note("createTable again", lambda: c.createTable("made", schema=spark.range(1).schema, source="parquet"))
        note("createTable path", lambda: c.createTable("madeat", path=self.root + "/madeat", source="parquet", schema=spark.range(1).schema).columns)
        note("made tables", c.listTables)
        note("dropView", lambda: c.dropView("cv"))
        note("dropView again", lambda: c.dropView("cv"))
        note("dropView if exists", lambda: c.dropView("cv", ifExists=True))
        note("dropView table", lambda: c.dropView("made"))
        note("dropTable", lambda: c.dropTable("made"))
        note("dropTable again", lambda: c.dropTable("made"))
        note("dropTable if exists", lambda: c.dropTable("made", ifExists=True))
        note("dropDatabase not empty", lambda: c.dropDatabase("cd"))
        c.setCurrentDatabase("default")
        note("dropDatabase cascade", lambda: c.dropDatabase("cd", cascade=True))
        note("dropDatabase again", lambda: c.dropDatabase("cd"))
        note("dropDatabase if exists", lambda: c.dropDatabase("cd", ifExists=True))

    def frames(self):
        spark = self.spark
        rows = [(1, "x", 1.5, 10), (2, "y", None, 20), (2, "x", 2.5, 30), (None, None, 4.0, 40), (5, "z", 0.25, 50)]
        df = spark.createDataFrame(rows, "a int, s string, d double, n bigint")
        note = lambda label, act: self.note(label, lambda: self.frame(act()))
        for label, frame in {"all": df, "empty": df.where("a > 100"), "text": df.select("s"), "date": df.selectExpr("date'2020-01-01' as t", "a")}.items():
            note(f"describe {label}", frame.describe)
            note(f"summary {label}", frame.summary)
        note("describe columns", lambda: df.describe("n", "s"))
        note("describe nope", lambda: df.describe("nope"))
        note("summary some", lambda: df.select("a", "n").summary("count", "min", "25%", "99.5%", "max", "count_distinct", "approx_count_distinct"))
        note("summary nope", lambda: df.summary("nope"))
        note("summary bad percent", lambda: df.summary("101%"))
        note("unpivot", lambda: df.unpivot(["a", "s"], ["d", "n"], "name", "value"))
        note("unpivot all others", lambda: df.select("a", "d", "n").unpivot("a", None, "name", "value"))
        note("unpivot no ids", lambda: df.select("a", "d", "n").unpivot([], ["a", "n"], "name", "value"))
        note("unpivot types", lambda: df.unpivot("a", ["s", "n"], "name", "value"))
        note("unpivot none", lambda: df.unpivot("a", [], "name", "value"))
        note("melt", lambda: df.melt("a", ["d"], "k", "v"))
        note("transpose", lambda: df.where("a is not null and a <> 2").select("s", "d").transpose())
        note("transpose column", lambda: df.where("s = 'z'").transpose("s"))
        note("transpose types", lambda: df.transpose("a"))
        note("transpose nulls", lambda: df.select("a", "n").transpose())
        note("transpose empty", lambda: df.where("false").select("a", "n").transpose())
        for key in ("int", "double"):
            note(f"corr {key}", lambda: spark.createDataFrame([(df.withColumn("n", F.col("n").cast(key)).where("a is not null and d is not null").stat.corr("n", "a"),)], "c double"))
        note("corr nope", lambda: spark.createDataFrame([(df.corr("nope", "a"),)], "c double"))
        note("corr text", lambda: spark.createDataFrame([(df.corr("s", "a"),)], "c double"))
        note("corr method", lambda: spark.createDataFrame([(df.corr("n", "a", "spearman"),)], "c double"))
        note("cov", lambda: spark.createDataFrame([(df.cov("n", "a"),)], "c double"))
        note("cov nulls", lambda: spark.createDataFrame([(df.cov("n", "d"),)], "c double"))
        note("cov text", lambda: spark.createDataFrame([(df.cov("s", "a"),)], "c double"))
        note("crosstab", lambda: df.crosstab("a", "s").orderBy("a_s"))
        note("crosstab nope", lambda: df.crosstab("a", "nope"))
        note("freqItems", lambda: df.freqItems(["a", "s"], 0.3).select(F.sort_array("a_freqItems").alias("a"), F.sort_array("s_freqItems").alias("s")))
        note("freqItems names", lambda: df.freqItems(["a", "s"], 0.3).limit(0))
        note("freqItems many", lambda: spark.range(0, 1000, 1, 1).selectExpr("if(id % 2 = 0, 7, id) as v").freqItems(["v"], 0.4).select(F.sort_array("v_freqItems").alias("v")))
        note("freqItems support", lambda: df.freqItems(["a"], 0.0000001))
        hundred = spark.range(0, 1000, 1, 1).selectExpr("id", "cast(id % 3 as int) as k", "id * 1.5 as d")
        self.note("approxQuantile", lambda: self.cell(hundred.approxQuantile("id", [0.0, 0.25, 0.5, 0.9, 1.0], 0.0)))
        self.note("approxQuantile ends", lambda: self.cell(hundred.approxQuantile("id", [0.05, 0.95], 0.1)))
        self.note("approxQuantile two", lambda: self.cell(hundred.approxQuantile(["id", "d"], [0.1, 0.5], 0.0)))
        self.note("approxQuantile nulls", lambda: self.cell(df.approxQuantile(["a", "d"], [0.5], 0.0)))
        self.note("approxQuantile empty", lambda: self.cell(df.where("false").approxQuantile("a", [0.5], 0.0)))
        self.note("approxQuantile text", lambda: self.cell(df.approxQuantile("s", [0.5], 0.0)))
        note("sampleBy", lambda: hundred.sampleBy("k", {0: 0.1, 1: 0.05}, 7))
        note("sampleBy column", lambda: hundred.sampleBy(F.col("k"), {2: 1.0}, 7).limit(3))
        note("sampleBy bad", lambda: hundred.sampleBy("k", {0: 1.5}, 7))
        note("pivot", lambda: df.groupBy("a").pivot("s").sum("n").orderBy("a"))
        note("pivot values", lambda: df.groupBy("a").pivot("s", ["x", "z", "w"]).sum("n").orderBy("a"))
        note("pivot two aggregates", lambda: df.groupBy("a").pivot("s", ["x", "y"]).agg(F.sum("n").alias("sum"), F.avg("d")).orderBy("a"))
        note("pivot no groups", lambda: df.groupBy().pivot("s").agg(F.count("*")))
        note("pivot int", lambda: df.groupBy("s").pivot("a").agg(F.max("d")).orderBy("s"))
        note("pivot struct", lambda: df.groupBy("s").pivot("a", [1, 2]).agg(F.struct(F.max("d"))).orderBy("s"))
        note("pivot nope", lambda: df.groupBy("a").pivot("nope").sum("n"))
        note("pivot not an aggregate", lambda: df.groupBy("a").pivot("s", ["x"]).agg(F.col("n")))
        spark.conf.set("spark.sql.pivotMaxValues", "2")
        note("pivot too many", lambda: df.groupBy("a").pivot("s").sum("n"))
        spark.conf.unset("spark.sql.pivotMaxValues")
        note("zipWithIndex", lambda: spark.range(3).selectExpr("id * 10 as v").zipWithIndex())
        note("zipWithIndex name", lambda: spark.range(2).zipWithIndex("at"))
        note("repartitionByRange", lambda: df.repartitionByRange(3, "n").orderBy("n"))
        note("repartitionByRange descending", lambda: df.repartitionByRange(3, F.desc("n"), "a").orderBy("n"))
        note("repartitionByRange parts", lambda: hundred.repartitionByRange(4, "id").groupBy(F.spark_partition_id().alias("p")).agg(F.max("id") > F.min("id")).orderBy("p"))
        note("repartitionByRange nope", lambda: df.repartitionByRange(3, "nope"))
        note("exceptAll", lambda: df.select("a").exceptAll(df.select("a").limit(3)).orderBy("a"))
        note("intersectAll", lambda: df.select("a").union(df.select("a")).intersectAll(df.select("a")).orderBy("a"))
        note("withField", lambda: df.select(F.struct("a", "s").alias("t")).select(F.col("t").withField("b", F.lit(1)), F.col("t").withField("a", F.lit("new")).alias("u"), F.col("t").dropFields("a").alias("v")))
        note("withField nested", lambda: spark.sql("select named_struct('a', named_struct('b', 1, 'c', 2), 'd', 3) as t").select(F.col("t").withField("a.b", F.lit("x")).alias("x"), F.col("t").dropFields("a.c", "d").alias("y"), F.col("t").withField("a.e", F.col("t.d")).alias("z")))
        note("withField null", lambda: spark.sql("select cast(null as struct<a:int>) as t").select(F.col("t").withField("b", F.lit(1))))
        note("withField not a struct", lambda: df.select(F.col("a").withField("b", F.lit(1))))
        note("dropFields all", lambda: df.select(F.struct("a").alias("t")).select(F.col("t").dropFields("a")))
        note("dropFields nope", lambda: df.select(F.struct("a").alias("t")).select(F.col("t").dropFields("nope").alias("t")))
        note("tvf range", lambda: spark.tvf.range(1, 4))
        note("tvf explode", lambda: spark.tvf.explode(F.array(F.lit(1), F.lit(2))))
        note("tvf explode map", lambda: spark.tvf.explode(F.create_map(F.lit("a"), F.lit(1))))
        note("tvf explode_outer", lambda: spark.tvf.explode_outer(F.array().cast("array<int>")))
        note("tvf posexplode", lambda: spark.tvf.posexplode(F.array(F.lit("x"), F.lit("y"))))
        note("tvf inline", lambda: spark.tvf.inline(F.array(F.struct(F.lit(1).alias("a"), F.lit("b").alias("b")))))
        note("tvf stack", lambda: spark.tvf.stack(F.lit(2), F.lit(1), F.lit(2), F.lit(3)))


def run(spark, root, warehouse, tell):
    program = Program(spark, root, warehouse, tell)
    for lines in (QUERIES, DATABASES, TABLES, VIEWS, FUNCTIONS, SETTINGS, CACHES, INSERTS):
        program.statements(lines)
    program.catalog()
    program.frames()
