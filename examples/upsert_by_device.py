"""The hottest reading and the number of readings of each device: JSON readings from Kafka, merged into a Delta table by device.

    thalweg submit examples/upsert_by_device.py BROKER CHECKPOINT [TRIGGER]

BROKER is host:port; the topic is "telemetry-events", with events {"device_id": ..., "temperature": ..., "timestamp": ...}. CHECKPOINT is a
folder of the query's own. TRIGGER is a processing-time interval ("10 seconds"), or "once" to read what is there and end. A function that
runs again after a crash merges the same rows again: the table stays what it was.
"""
import sys

from delta.tables import DeltaTable
from pyspark.sql import SparkSession, functions as F

broker, checkpoint = sys.argv[1:3]
trigger = sys.argv[3] if len(sys.argv) > 3 else "10 seconds"

spark = SparkSession.builder.appName("upsert-stream").getOrCreate()
spark.sql("CREATE DATABASE IF NOT EXISTS iot")
delta_table = (DeltaTable.createIfNotExists(spark).tableName("iot.devices")
               .addColumn("device_id", "STRING").addColumn("max_temperature", "DOUBLE").addColumn("total_events", "BIGINT").execute())

readings = (spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", broker)
            .option("subscribe", "telemetry-events")
            .option("startingOffsets", "earliest" if trigger == "once" else "latest")
            .option("maxOffsetsPerTrigger", 10_000)
            .load()
            .select(F.from_json(F.col("value").cast("string"), "device_id STRING, temperature DOUBLE, timestamp TIMESTAMP").alias("payload"))
            .select("payload.*").where("device_id IS NOT NULL"))

streaming_df = readings.groupBy("device_id").agg(F.max("temperature").alias("max_temperature"), F.count("*").alias("total_events"))


def upsert_to_delta(batch_df, batch_id):
    # Re-using DeltaTable batch API inside foreachBatch
    delta_table.alias("target").merge(
        batch_df.alias("source"),
        "target.device_id = source.device_id"
    ).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()


query = (streaming_df.writeStream
         .foreachBatch(upsert_to_delta)
         .outputMode("update")                                     # the devices of which something came
         .option("checkpointLocation", checkpoint)
         .trigger(**({"availableNow": True} if trigger == "once" else {"processingTime": trigger}))
         .start())

query.awaitTermination()
