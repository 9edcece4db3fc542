import { setTimeout as sleep } from 'node:timers/promises';
import { context, propagation, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { reasonOf } from '@parley/contracts';
import { BullMQOtel } from 'bullmq-otel';
import { messageSampler } from './message-sampler.ts';
import { openTracer } from './open-tracer.ts';
import type { Tracing, TracingOptions } from './open-tracing.ts';
import { plainExporter } from './plain-exporter.ts';

/** Spans that wait to be sent; what is more is dropped. */
const MOST_WAITING = 2_048;
/** So often they are sent, and so long that may take, in ms. */
const SEND_EVERY_MS = 1_000;
const SEND_WITHIN_MS = 5_000;
/** At the end nobody waits longer for a collector, in ms. */
const CLOSE_WITHIN_MS = 2_000;

/** Switches traces on: spans go to the collector in batches, beside all else. */
export function startTracing(options: TracingOptions): Tracing {
  const { url, headers, service, share, instance, version, log, scrub } = options;
  const sending = new OTLPTraceExporter({
    url,
    headers: { ...headers },
    timeoutMillis: SEND_WITHIN_MS,
  });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': service,
      'service.version': version,
      'service.instance.id': instance,
    }),
    sampler: messageSampler(share),
    spanProcessors: [
      new BatchSpanProcessor(plainExporter(sending, log, scrub), {
        maxQueueSize: MOST_WAITING,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: SEND_WITHIN_MS,
      }),
    ],
  });
  provider.register();
  return {
    tracer: openTracer(provider.getTracer('parley', version)),
    queues: new BullMQOtel({ tracerName: 'parley', version, enableMetrics: false }),
    async close() {
      const closing = provider.shutdown().catch((error: unknown) => {
        log.warn({ reason: reasonOf(error) }, 'the last traces could not be sent');
      });
      await Promise.race([closing, sleep(CLOSE_WITHIN_MS, undefined, { ref: false })]);
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}
