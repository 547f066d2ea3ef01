// Prints every property of Kafka's Java consumer, producer and admin clients, for src/connectors/kafka/testdata:
//   java -cp 'JARS/*' tools/KafkaPropertyNames.java
// where JARS holds kafka-clients and slf4j-api.
import java.util.Set;
import java.util.TreeSet;

public class KafkaPropertyNames {
  public static void main(String[] arguments) throws Exception {
    for (String name : new String[] {"consumer.ConsumerConfig", "producer.ProducerConfig", "admin.AdminClientConfig"}) {
      Class<?> config = Class.forName("org.apache.kafka.clients." + name);
      System.out.println("# " + name.substring(0, name.indexOf('.')));
      for (Object property : new TreeSet<>((Set<?>) config.getMethod("configNames").invoke(null))) System.out.println(property);
    }
  }
}
