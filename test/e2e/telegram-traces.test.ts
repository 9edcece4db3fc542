import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import {
  type CollectedSpan,
  type OtlpCollector,
  startOtlpCollector,
} from '../services/otlp-collector.ts';
import { ANN, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

const SECRET = 'amaranth';
const redisUrl = inject('redisUrl');

/** The stages of a message in order, each with its parent stage. */
const PARENTS: Readonly<Record<string, string>> = {
  'parley.ingress': '',
  'parley.inbox': 'parley.ingress',
  'add turns': 'parley.ingress',
  'process turns': 'add turns',
  'parley.lane': 'parley.ingress',
  'parley.turn': 'parley.ingress',
  'parley.prompt': 'parley.turn',
  'parley.model': 'parley.turn',
  'parley.tool': 'parley.turn',
  'parley.outbox': 'parley.turn',
  'parley.delivery': 'parley.outbox',
  'parley.send': 'parley.delivery',
  'parley.receipt': 'parley.delivery',
};

describe.each([
  ['the embedded queue', true, () => ({})],
  [
    'Redis',
    redisUrl !== null,
    () => ({ queue: { url: redisUrl, prefix: `test-${randomBytes(8).toString('hex')}` } }),
  ],
] as const)('traces with %s', (_name, available, queue) => {
  let collector: OtlpCollector;
  let scene: TelegramScene | undefined;
  beforeEach(async () => {
    collector = await startOtlpCollector();
  });
  afterEach(async () => {
    await scene?.close();
    await collector.close();
  });

  async function start(): Promise<TelegramScene> {
    const otlp = { url: collector.url, headers: { 'x-team': 'birds' } };
    scene = await startTelegramScene({}, { telemetry: { otlp }, ...queue() });
    const { model } = scene;
    model.reply(({ messages }) => {
      if (messages.some(({ role }) => role === 'tool')) return `Nothing. ${SECRET}`;
      return { toolCalls: [{ name: 'list', arguments: { path: '.' } }] };
    });
    return scene;
  }
  /** The name of a stage without the suffix added by queues. */
  const nameOf = ({ name }: CollectedSpan) => name.replace(/\.wake$/, '');

  it.runIf(available)(
    "[D10] one message has one trace, from the platform's event to the receipt",
    async () => {
      const { telegram, untilAnswers } = await start();
      telegram.say({ chat: ANN, text: `what is there? ${SECRET}` });
      await untilAnswers(ANN, 1);
      const all = () => collector.spans();
      const names = () => new Set(all().map(nameOf));
      const missing = () => Object.keys(PARENTS).filter((name) => !names().has(name));
      // Spans arrive in batches as they end, so a child may arrive before its parent.
      const unknown = () => {
        const ids = new Set(['', ...all().map(({ spanId }) => spanId)]);
        return all().filter(({ parentSpanId }) => !ids.has(parentSpanId));
      };
      // Lists all spans when one lacks its parent, because the failure may not be reproducible.
      const listed = () =>
        all().map(({ name, traceId, spanId, parentSpanId, from, to }) =>
          [name, traceId, spanId, parentSpanId, from, to].join(' '),
        );
      await expect
        .poll(() => [...missing(), ...(unknown().length > 0 ? listed() : [])])
        .toEqual([]);
      expect(new Set(all().map(({ traceId }) => traceId)).size).toBe(1);
      const byId = new Map(all().map((span) => [span.spanId, span]));
      for (const [name, parent] of Object.entries(PARENTS)) {
        for (const span of all().filter((one) => nameOf(one) === name)) {
          const known = byId.get(span.parentSpanId);
          expect(`${name} < ${known === undefined ? '' : nameOf(known)}`).toBe(
            `${name} < ${parent}`,
          );
          expect(span.to).toBeGreaterThanOrEqual(span.from);
        }
      }
      expect(all().filter(({ name }) => name === 'parley.model')).toHaveLength(2);
      const tool = all().find(({ name }) => name === 'parley.tool');
      expect(tool?.attributes).toMatchObject({ 'parley.tool': 'list' });
      expect(collector.headers()).toMatchObject({ 'x-team': 'birds' });
    },
  );

  it.runIf(available)(
    '[D10] [W02] do not contain text, ids of people or chats, or spans of idle queues',
    async () => {
      const { telegram, untilAnswers, parley } = await start();
      telegram.say({ chat: ANN, text: `what is there? ${SECRET}` });
      await untilAnswers(ANN, 1);
      await expect
        .poll(() => collector.spans().some(({ name }) => name === 'parley.receipt'))
        .toBe(true);
      await parley.end();
      const said = collector.bodies().join('\n');
      expect(said).not.toContain(SECRET);
      expect(said).not.toMatch(new RegExp(`\\b${ANN}\\b`));
      const roots = collector.spans().filter(({ parentSpanId }) => parentSpanId === '');
      expect(roots.map(({ name }) => name)).toEqual(['parley.ingress']);
    },
  );
});

describe('an unreachable collector', () => {
  let scene: TelegramScene;
  beforeEach(async () => {
    // Port 9 on this machine, where no process listens.
    const otlp = { url: 'http://127.0.0.1:9/v1/traces' };
    scene = await startTelegramScene({}, { telemetry: { otlp }, log: { format: 'json' } });
  });
  afterEach(() => scene.close());

  it('[D10] [D11] is logged once, breaks nothing, and does not delay shutdown', async () => {
    const parley = await scene.startApart();
    const { telegram, untilAnswers } = scene;
    for (const words of ['one', 'two']) {
      telegram.say({ chat: ANN, text: words });
      await expect.poll(() => scene.answers(ANN).at(-1)).toContain(words);
    }
    await untilAnswers(ANN, 2);
    const warnings = () => parley.err().match(/traces could not be sent/g)?.length ?? 0;
    await expect.poll(warnings).toBe(1);
    const { code, ms } = await parley.end();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(8_000);
    expect(warnings()).toBe(1);
  });
});
