import { context, propagation, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger, type Tracer } from '../../index.ts';
import { createRecordingLogger } from '../../testing/silent-runtime.ts';
import { openSecrets } from '../scrubber.ts';
import { openTracing } from './open-tracing.ts';
import { createMessageSampler, createScrubbingExporter, openTracer } from './spans.ts';

let provider: NodeTracerProvider | undefined;
afterEach(async () => {
  await provider?.shutdown();
  // Test files share a process, and queues keep using the first provider that was registered.
  trace.disable();
  context.disable();
  propagation.disable();
});

/** A tracer whose spans pass through the same filters as those sent to a collector. */
function traced(share = 1) {
  const kept = new InMemorySpanExporter();
  provider = new NodeTracerProvider({
    sampler: createMessageSampler(share),
    spanProcessors: [
      new SimpleSpanProcessor(
        createScrubbingExporter(kept, silentLogger, openSecrets(['span-key-1']).scrubLog),
      ),
    ],
  });
  provider.register();
  const otel = provider.getTracer('test');
  return { tracer: openTracer(otel), otel, spans: () => kept.getFinishedSpans() };
}

const parentOf = ({ parentSpanContext }: ReadableSpan) => parentSpanContext?.spanId ?? null;

describe('a trace', () => {
  it('[D10] continues from the stored parent instead of the active span', async () => {
    const { tracer, spans } = traced();
    const stored = await tracer.span('parley.ingress', {}, async ({ trace }) => trace);
    await tracer.span('parley.ingress', {}, () =>
      tracer.span('parley.turn', { parent: stored }, () =>
        tracer.span('parley.model', {}, async () => {}),
      ),
    );
    await tracer.span('parley.ingress', {}, () => tracer.span('parley.turn', {}, async () => {}));
    const [first, model, turn, , lone] = spans();
    expect(turn && parentOf(turn)).toBe(first?.spanContext().spanId);
    expect(model && parentOf(model)).toBe(turn?.spanContext().spanId);
    expect(lone && parentOf(lone)).toBeNull();
  });

  it('[D10] reports time spent waiting', () => {
    const { tracer, spans } = traced();
    const from = Date.now() - 5_000;
    tracer.past('parley.lane', {}, from, from + 1_500);
    expect(spans()[0]?.duration[0]).toBe(1);
  });

  it('[G18] does not contain secrets, even in the name of a tool', async () => {
    const { tracer, spans } = traced();
    await tracer.span('parley.tool', { facts: { tool: 'at_span-key-1' } }, async () => {});
    expect(spans()[0]?.attributes).toEqual({ 'parley.tool': 'at_[secret]' });
  });

  it('[D10] [W02] does not contain text: only the codes of errors, and nothing from queues that names a chat', async () => {
    const { tracer, otel, spans } = traced();
    const failing = tracer.span('parley.send', { facts: { channel: 'x' } }, async () => {
      const span = otel.startSpan('add turns');
      span.setAttributes({
        'bullmq.queue.name': 'turns',
        'bullmq.job.deduplication.key': 'amaranth',
      });
      span.addEvent('amaranth');
      span.recordException(new Error('amaranth'));
      span.setStatus({ code: 2, message: 'amaranth' });
      span.end();
      throw Object.assign(new Error('amaranth'), { code: 'gone' });
    });
    await expect(failing).rejects.toThrow('amaranth');
    const told = spans().map(({ name, attributes, events, status }) => {
      return { name, attributes, events, status };
    });
    expect(told).toEqual([
      {
        name: 'add turns',
        attributes: { 'bullmq.queue.name': 'turns' },
        events: [],
        status: { code: 2 },
      },
      {
        name: 'parley.send',
        attributes: { 'parley.channel': 'x', 'parley.error': 'gone' },
        events: [],
        status: { code: 2 },
      },
    ]);
  });

  it('[D10] covers a share of the messages, each completely or not at all', async () => {
    const { tracer, otel, spans } = traced(0);
    const run = (with_: Tracer) =>
      with_.span('parley.ingress', {}, async ({ trace }) => {
        await with_.span('parley.inbox', {}, async () => {});
        return trace;
      });
    const stored = await run(tracer);
    expect(stored).toMatch(/-00$/);
    await tracer.span('parley.turn', { parent: stored }, async () => {});
    otel.startSpan('getNextJob').end();
    expect(spans()).toEqual([]);
  });

  it.each(['', 'x', '00-0-0-01', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`])(
    'starts a new trace if the stored parent is invalid: %j',
    async (parent) => {
      const { tracer, spans } = traced();
      await tracer.span('parley.turn', { parent }, async () => {});
      const [first] = spans();
      expect(first && parentOf(first)).toBeNull();
    },
  );
});

describe('a collector that refuses traces', () => {
  it('[D10] is logged once a minute', () => {
    const { log, lines } = createRecordingLogger();
    const broken: SpanExporter = {
      export: (_spans, done) => done({ code: 1, error: new Error('refused') }),
      shutdown: async () => {},
    };
    const exporter = createScrubbingExporter(broken, log, (text) => text);
    for (let nth = 0; nth < 5; nth += 1) exporter.export([], () => {});
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('traces could not be sent');
  });
});

describe('traces that cannot be enabled', () => {
  const about = { url: 'http://127.0.0.1:9', headers: {}, service: 's', share: 1 };
  it.each([
    ['their libraries are not installed', 'ERR_MODULE_NOT_FOUND', 'not installed'],
    ['something else is wrong', 'ERR_OTHER', 'telemetry.otlp may be wrong'],
  ])('[D10] cause one warning if %s', async (_why, code, words) => {
    const { log, lines } = createRecordingLogger();
    const options = { ...about, instance: 'i', version: 'v', log, scrub: (text: string) => text };
    const load = () => Promise.reject(Object.assign(new Error('no'), { code }));
    expect(await openTracing(options, load)).toBeNull();
    expect(lines).toEqual([expect.stringContaining(words)]);
  });
});
