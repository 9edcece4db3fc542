import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';
import { type Logger, reasonOf } from '@parley/contracts';
import type { Scrub } from '../scrubber.ts';

/** What the spans of queues may say; their keys and options name chats and people. */
const OF_QUEUES: ReadonlySet<string> = new Set([
  'bullmq.queue.name',
  'bullmq.queue.operation',
  'bullmq.job.name',
  'bullmq.job.attempts.made',
]);
/** A collector that is down is told of so often, in ms. */
const TOLD_EVERY_MS = 60_000;

/**
 * Passes spans on with nothing but Parley's own facts, without secrets, and what is known to be harmless, and tells when
 * they cannot be sent. What was not sent is dropped.
 */
export function plainExporter(exporter: SpanExporter, log: Logger, scrub: Scrub): SpanExporter {
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    export(spans, done) {
      exporter.export(
        spans.map((span) => plain(span, scrub)),
        (result) => {
          const now = performance.now();
          if (result.error !== undefined && now - toldAt > TOLD_EVERY_MS) {
            toldAt = now;
            const reason = reasonOf(result.error);
            log.warn({ reason, spans: spans.length }, 'traces could not be sent; they are dropped');
          }
          done(result);
        },
      );
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

function plain(span: ReadableSpan, scrub: Scrub): ReadableSpan {
  const attributes = Object.fromEntries(
    Object.entries(span.attributes)
      .filter(([name]) => name.startsWith('parley.') || OF_QUEUES.has(name))
      .map(([name, value]) => [name, typeof value === 'string' ? scrub(value) : value]),
  );
  const { code } = span.status;
  return Object.create(span, {
    attributes: { value: attributes },
    events: { value: [] },
    links: { value: [] },
    status: { value: { code } },
  });
}
