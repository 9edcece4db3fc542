import {
  type Context,
  context,
  isSpanContextValid,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import {
  AlwaysOnSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import {
  type Logger,
  reasonOf,
  type Span,
  type SpanFields,
  type SpanName,
  type SpanStart,
  type Tracer,
} from '../../index.ts';
import { systemTime } from '../../time.ts';
import type { Scrub } from '../scrubber.ts';

/**
 * Traces a share of the messages, each completely or not at all. Work that does not belong to a
 * message is omitted, because queues poll for work all the time.
 */
export function createMessageSampler(share: number): Sampler {
  const first = share === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(share);
  const no = { decision: SamplingDecision.NOT_RECORD };
  return {
    shouldSample(around: Context, traceId, name) {
      const parent = trace.getSpanContext(around);
      if (parent !== undefined && isSpanContextValid(parent)) {
        const isTraced = (parent.traceFlags & 1) === 1;
        return isTraced ? { decision: SamplingDecision.RECORD_AND_SAMPLED } : no;
      }
      return name.startsWith('parley.') ? first.shouldSample(around, traceId) : no;
    },
    toString: () => `a share of ${share} of the messages`,
  };
}

/**
 * Stages whose parent is the stored stage rather than the active span: a lane may continue with
 * another person's message.
 */
const FROM_STORE: ReadonlySet<SpanName> = new Set([
  'parley.ingress',
  'parley.lane',
  'parley.turn',
  'parley.delivery',
]);

/** Implements Parley's tracer with OpenTelemetry. */
export function openTracer(tracer: OtelTracer): Tracer {
  return {
    span(name, start, work) {
      const options = { attributes: toSpanAttributes(start.facts) };
      const around = createParentContext(name, start);
      return tracer.startActiveSpan(name, options, around, async (span) => {
        try {
          return await work(wrapSpan(span));
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          span.setAttribute('parley.error', getSpanErrorCode(error));
          throw error;
        } finally {
          span.end();
        }
      });
    },
    past(name, start, from, to) {
      const options = { attributes: toSpanAttributes(start.facts), startTime: from };
      tracer.startSpan(name, options, createParentContext(name, start)).end(Math.max(from, to));
    },
  };
}

function wrapSpan(span: OtelSpan): Span {
  return {
    trace: formatTraceContext(span),
    note: (facts) => void span.setAttributes(toSpanAttributes(facts)),
  };
}

function createParentContext(name: SpanName, { parent }: SpanStart): Context {
  const known = parent === undefined ? null : parseTraceContext(parent);
  if (known !== null) return trace.setSpanContext(ROOT_CONTEXT, known);
  return FROM_STORE.has(name) ? ROOT_CONTEXT : context.active();
}

/**
 * Returns the W3C trace context. Untraced spans have a context as well, so that their children
 * remain untraced.
 */
function formatTraceContext(span: OtelSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED) === 1 ? '01' : '00'}`;
}

function parseTraceContext(stored: string) {
  const [, traceId = '', spanId = '', flags = '00'] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(stored) ?? [];
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const known = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(known) ? known : null;
}

function toSpanAttributes(facts: SpanFields = {}) {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      value === undefined ? [] : [[`parley.${name}`, value]],
    ),
  );
}

/** Returns a code or a kind, because error messages may contain text that people wrote. */
function getSpanErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** The attributes that queue spans may have; their keys and options name chats and people. */
const OF_QUEUES: ReadonlySet<string> = new Set([
  'bullmq.queue.name',
  'bullmq.queue.operation',
  'bullmq.job.name',
  'bullmq.job.attempts.made',
]);
/** The interval at which an unreachable collector is logged, in ms. */
const LOG_INTERVAL_MS = 60_000;

/**
 * Exports spans with only Parley's own facts and attributes known to be harmless, with secrets
 * removed. Spans that cannot be sent are dropped, and this is logged.
 */
export function createScrubbingExporter(
  exporter: SpanExporter,
  log: Logger,
  scrub: Scrub,
): SpanExporter {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    export(spans, done) {
      exporter.export(
        spans.map((span) => scrubSpan(span, scrub)),
        (result) => {
          const now = systemTime.monotonic();
          if (result.error !== undefined && now - loggedAt > LOG_INTERVAL_MS) {
            loggedAt = now;
            const reason = reasonOf(result.error);
            log.warn({ reason, spans: spans.length }, 'traces could not be sent and were dropped');
          }
          done(result);
        },
      );
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

function scrubSpan(span: ReadableSpan, scrub: Scrub): ReadableSpan {
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
