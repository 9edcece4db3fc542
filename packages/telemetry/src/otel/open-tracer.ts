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
import type { Span, SpanFacts, SpanName, SpanStart, Tracer } from '@parley/contracts';

/**
 * Stages that begin from what was stored, not from whatever happens to be around: a lane goes on to the
 * message of somebody else.
 */
const FROM_STORE: ReadonlySet<SpanName> = new Set([
  'parley.ingress',
  'parley.lane',
  'parley.turn',
  'parley.delivery',
]);

/** Parley's traces on OpenTelemetry. */
export function openTracer(tracer: OtelTracer): Tracer {
  return {
    span(name, start, work) {
      const options = { attributes: attributesOf(start.facts) };
      const around = contextOf(name, start);
      return tracer.startActiveSpan(name, options, around, async (span) => {
        try {
          return await work(faceOf(span));
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          span.setAttribute('parley.error', codeOf(error));
          throw error;
        } finally {
          span.end();
        }
      });
    },
    past(name, start, from, to) {
      const options = { attributes: attributesOf(start.facts), startTime: from };
      tracer.startSpan(name, options, contextOf(name, start)).end(Math.max(from, to));
    },
  };
}

function faceOf(span: OtelSpan): Span {
  return {
    trace: traceOf(span),
    note: (facts) => void span.setAttributes(attributesOf(facts)),
  };
}

function contextOf(name: SpanName, { parent }: SpanStart): Context {
  const known = parent === undefined ? null : readTrace(parent);
  if (known !== null) return trace.setSpanContext(ROOT_CONTEXT, known);
  return FROM_STORE.has(name) ? ROOT_CONTEXT : context.active();
}

/** W3C trace context; of what is not traced, too, so that it stays so. */
function traceOf(span: OtelSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED) === 1 ? '01' : '00'}`;
}

function readTrace(stored: string) {
  const [, traceId = '', spanId = '', flags = '00'] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(stored) ?? [];
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const known = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(known) ? known : null;
}

function attributesOf(facts: SpanFacts = {}) {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      value === undefined ? [] : [[`parley.${name}`, value]],
    ),
  );
}

/** A code or a kind; messages of errors may hold what people wrote. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
