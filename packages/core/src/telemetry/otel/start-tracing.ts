import { setTimeout as sleep } from 'node:timers/promises';
import { context, propagation, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { BullMQOtel } from 'bullmq-otel';
import { type Logger, reasonOf, type Tracer } from '../../index.ts';
import type { Scrub } from '../scrubber.ts';
import { createMessageSampler, createScrubbingExporter, openTracer } from './spans.ts';

/** The destination of traces, and how they describe this process. */
export interface TracingOptions {
  /** The URL of a collector that accepts OTLP traces over HTTP as JSON. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly service: string;
  /** The share of messages that are traced; 1 traces all. */
  readonly share: number;
  /** An id that distinguishes this process from others. */
  readonly instance: string;
  readonly version: string;
  readonly log: Logger;
  readonly scrub: Scrub;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** Lets queued jobs join the trace of their caller. */
  readonly queues: BullMQOtel;
  /** Sends the remaining spans within two seconds. */
  close(): Promise<void>;
}

/** The maximum number of spans that may wait to be sent; any others are dropped. */
const MAX_WAITING = 2_048;
/** Export interval and timeout, in ms. */
const SEND_INTERVAL_MS = 1_000;
const SEND_WITHIN_MS = 5_000;
/** How long process shutdown waits for the collector, in ms. */
const CLOSE_WITHIN_MS = 2_000;

/** Starts tracing; spans are sent to the collector in batches, independently of all other work. */
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
    sampler: createMessageSampler(share),
    spanProcessors: [
      new BatchSpanProcessor(createScrubbingExporter(sending, log, scrub), {
        maxQueueSize: MAX_WAITING,
        scheduledDelayMillis: SEND_INTERVAL_MS,
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
