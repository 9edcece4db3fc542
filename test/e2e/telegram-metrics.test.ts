import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ANN, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

const SENT = 'parley_outbox_parts_total';

/** One line of the Prometheus text format. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses the text format strictly: every line must be a valid comment or a sample. */
function read(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line): Sample[] => {
    if (line === '') return [];
    if (line.startsWith('#')) {
      expect(line).toMatch(/^# (HELP \w+ .+|TYPE \w+ (counter|gauge|histogram))$/);
      return [];
    }
    const [, name = '', inside = '', value = ''] =
      /^([a-z_]+)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (-?[0-9.e+-]+)$/.exec(line) ?? [];
    expect(name, line).not.toBe('');
    const labels = [...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return [
      { name, labels: Object.fromEntries(labels.map(([, k, v]) => [k, v])), value: Number(value) },
    ];
  });
}

describe('the metrics of a process that answers on Telegram', () => {
  let scene: TelegramScene;
  let before: readonly Sample[];
  let after: readonly Sample[];
  let text = '';
  beforeAll(async () => {
    scene = await startTelegramScene();
    scene.model.reply(({ messages }) => {
      if (messages.some(({ role }) => role === 'tool')) return 'Nothing is there.';
      return { toolCalls: [{ name: 'list', arguments: { path: '.' } }] };
    });
    before = read(await scrape());
    scene.telegram.say({ chat: ANN, text: 'what is there?' });
    await scene.untilAnswers(ANN, 1);
    await vi.waitFor(async () => expect(sum(read(await scrape()), SENT)).toBe(1), 30_000);
    text = await scrape();
    after = read(text);
  });
  afterAll(() => scene.close());

  async function scrape(): Promise<string> {
    const { address, token } = scene.parley;
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${address}/metrics`, { headers });
    expect(response.status).toBe(200);
    return response.text();
  }
  const sum = (samples: readonly Sample[], name: string) =>
    samples.filter((one) => one.name === name).reduce((total, { value }) => total + value, 0);
  const moved = (name: string) => sum(after, name) - sum(before, name);

  it.each([
    ['channel', 'parley_platform_delay_seconds_count', 1],
    ['ingress', 'parley_ingress_total', 1],
    ['ingress', 'parley_ingress_seconds_count', 1],
    ['inbox', 'parley_inbox_seconds_count', 1],
    ['lane', 'parley_inbox_wait_seconds_count', 1],
    ['lane', 'parley_lane_turns_total', 1],
    ['turn', 'parley_turn_seconds_count', 1],
    ['prompt', 'parley_prompt_seconds_count', 1],
    ['model', 'parley_model_seconds_count', 2],
    ['model', 'parley_model_first_token_seconds_count', 2],
    ['tools', 'parley_tool_seconds_count', 1],
    ['outbox', 'parley_commit_seconds_count', 1],
    ['outbox', 'parley_outbox_queued_total', 1],
    ['delivery', 'parley_outbox_wait_seconds_count', 1],
    ['delivery', 'parley_outbox_parts_total', 1],
    ['channel', 'parley_delivery_seconds_count', 1],
  ])('[D10] count one message at the stage %s: %s', (_stage, name, by) => {
    expect(moved(name)).toBe(by);
  });

  it('[D10] count tokens in both directions', () => {
    expect(moved('parley_model_tokens_total')).toBeGreaterThan(0);
  });

  it('[D10] report the current state in gauges', () => {
    const value = (name: string, labels: object = {}) =>
      after.find((one) => one.name === name && matches(one.labels, labels))?.value;
    const up = { channel: 'telegram', account: 'default', state: 'connected' };
    expect(value('parley_channel_up', up)).toBe(1);
    expect(value('parley_inbox_waiting_messages')).toBe(0);
    expect(value('parley_turns_running')).toBe(0);
    expect(value('parley_database_up')).toBe(1);
    // Times are whole milliseconds, so the times of a fast database may be 0.
    expect(value('parley_database_ping_seconds')).toBeGreaterThanOrEqual(0);
    expect(value('parley_dead_letters', { kind: 'refused' })).toBe(0);
    expect(value('parley_queue_jobs', { queue: 'turns', state: 'waiting' })).toBe(0);
    expect(value('parley_event_loop_lag_seconds', { quantile: '0.99' })).toBeGreaterThanOrEqual(0);
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  });

  it('[D10] [W02] do not have labels with the id of a person, a chat or a message', () => {
    expect(text).not.toMatch(new RegExp(`"[^"]*\\b${ANN}\\b[^"]*"`));
    const allowed = documented();
    for (const { name, labels } of after.filter((one) => one.name.startsWith('parley_'))) {
      const known = allowed.get(name) ?? allowed.get(name.replace(/_(bucket|sum|count)$/, ''));
      const own = Object.keys(labels).filter((label) => label !== 'le');
      expect(own.toSorted(), name).toEqual(known);
    }
  });

  it('[D10] are all declared, with HELP and TYPE once each', () => {
    const declared = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);
    expect(new Set(declared).size).toBe(declared.length);
    for (const { name } of after) {
      const base = name.replace(/_(bucket|sum|count)$/, '');
      expect(declared.includes(name) || declared.includes(base), name).toBe(true);
    }
  });
});

function matches(labels: Readonly<Record<string, string>>, wanted: object): boolean {
  return Object.entries(wanted).every(([label, value]) => labels[label] === value);
}

/** The labels of each metric, as listed for operators in docs/metrics.md. */
function documented(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
  const rows = text.matchAll(/^\| `(\w+)` \| \w+ \| ([^|]*) \|/gm);
  return new Map(
    [...rows].map(([, name = '', labels = '']) => {
      return [
        name,
        labels
          .split(', ')
          .filter((label) => label.trim() !== '')
          .toSorted(),
      ];
    }),
  );
}
