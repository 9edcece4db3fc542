import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDueToday, isFullRun } from '@parley/core/testing';
import {
  HOSTILE_PATTERNS,
  HOSTILE_SCHEMAS,
  type HostileSchema,
  SLOW_PATTERN,
  SLOW_SCHEMAS,
} from '@parley/core/testing/hostile-schemas';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ChatRequest, getMessageText, listToolNames } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import {
  type DataFolder,
  makeDataFolder,
  type ParleyProcess,
  runCommand,
  startParleyProcess,
} from './parley-process.ts';

const GUEST = 'guest-token-for-the-api-0123456789abcdef';
const STRICT = 'strict-token-for-the-api-0123456789abcde';

/**
 * Tools with patterns of every kind, including ambiguous patterns, which are rejected, and a slow
 * pattern.
 */
const PLUGIN = `
import { defineTool, definePlugin } from '@parley/plugins';
import { z } from 'zod';

const ambiguous = ${JSON.stringify(HOSTILE_PATTERNS.map(({ pattern }) => pattern))};
const shared = Array.from({ length: 40 }).reduce((part) => z.object({ one: part, other: part }), z.object({}));
const tool = (name, input) => defineTool({
  name, input, summary: 'Looks.', tier: 'sandbox', effect: 'read', audience: 'everyone', approval: 'never',
  run: async () => ({ text: 'looked' }),
});
export const plugin = definePlugin({
  name: 'patterns', version: '1.0.0',
  setup: () => ({
    tools: [
      ...ambiguous.map((pattern, nth) => tool('ambiguous_' + nth, z.object({ text: z.string().regex(new RegExp(pattern)) }))),
      tool('doubled', z.object({ shared })),
      tool('slow', z.object({ text: z.string().regex(new RegExp(${JSON.stringify(SLOW_PATTERN.pattern)})) })),
      tool('look', z.object({ text: z.string() })),
    ],
  }),
});
`;

const [slowAnswer] = SLOW_SCHEMAS;
/**
 * Each check occupies a processor for two seconds before it is ended. The checker is tested with
 * all patterns: in a normal run for one agent, and at night also for all clients.
 */
const SLOW_OF_CLIENTS = isFullRun() ? SLOW_SCHEMAS : [];
/**
 * The kinds of slow checks: answers and arguments, which share one checker. A normal run tests one
 * of these kinds each day.
 */
const SLOW_KINDS = 2;
/** Patterns are removed from the arguments of MCP tools, so only their size matters. */
const WIDE: HostileSchema = {
  what: 'many choices for many values',
  schema: {
    type: 'object',
    properties: {
      a: {
        type: 'array',
        items: { anyOf: Array.from({ length: 300 }, (_, nth) => ({ const: nth })) },
      },
    },
  },
  value: { a: Array.from({ length: 60_000 }, () => 'x') },
};
const ON_SERVER = [WIDE, ...HOSTILE_SCHEMAS, ...SLOW_SCHEMAS].slice(0, 100);

let model: ModelDouble;
let folder: DataFolder;
let offers: DataFolder;
let parley: ParleyProcess;
let watching = true;
let watch: Promise<void>;
/** Response times in ms. */
const took: number[] = [];
/** The model's next text or tool call. */
let next: string | { readonly name: string; readonly arguments: object } = 'hello';

const Answer = z.looseObject({
  error: z.object({ message: z.string(), code: z.string() }).optional(),
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).default([]),
});

/** A blocked process never responds, while a busy machine only responds late. */
const TIMEOUT_MS = 20_000;

async function watchHealth(): Promise<void> {
  while (watching) {
    const asked = Date.now();
    const response = await fetch(`${parley.address}/healthz`, {
      // The server may close a kept-alive connection just when a slow machine reuses it.
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    expect(response.status).toBe(200);
    took.push(Date.now() - asked);
    await pause(50);
  }
}

async function post(token: string, body: object) {
  const response = await fetch(`${parley.address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'go' }], ...body }),
  });
  const { error, choices } = Answer.parse(await response.json());
  return { status: response.status, error, text: choices[0]?.message.content };
}

const format = (schema: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
});

const resultOf = ({ messages }: ChatRequest): string | null => {
  const last = messages.at(-1);
  return last?.role === 'tool' ? getMessageText(last) : null;
};

beforeAll(async () => {
  model = await startModelDouble();
  model.reply((request) => {
    const result = resultOf(request);
    if (result !== null) return `It says: ${result}`;
    return typeof next === 'string' ? next : { toolCalls: [next] };
  });
  const server = join(import.meta.dirname, 'schema-server.ts');
  offers = makeDataFolder({});
  const schemas = join(offers.path, 'schemas.json');
  writeFileSync(schemas, JSON.stringify(ON_SERVER.map(({ schema }) => schema)));
  folder = makeDataFolder({
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 20 },
    http: { port: 0 },
    agents: { strict: { responseFormat: slowAnswer?.schema } },
    approvals: { ask: ['look'], auto: [`look:${'*a'.repeat(100)}b`] },
    plugins: ['./plugins/patterns'],
    mcp: { odd: { command: process.execPath, args: [server, schemas], audience: 'everyone' } },
    api: {
      waitSeconds: 60,
      clients: { guest: { token: GUEST }, strict: { token: STRICT, agent: 'strict' } },
    },
  });
  const plugin = join(folder.path, 'plugins/patterns');
  mkdirSync(plugin, { recursive: true });
  writeFileSync(join(plugin, 'index.ts'), PLUGIN);
  parley = await startParleyProcess(folder.path);
  watch = watchHealth();
});
afterAll(async () => {
  await parley?.end('SIGKILL');
  await model?.close();
  folder?.remove();
  offers?.remove();
});

describe('untrusted schemas and patterns', () => {
  it('[D13] do not run forever: invalid tools are left out, and the other tools remain', async () => {
    next = 'hello';
    const offeredNow = async () => {
      expect((await post(GUEST, {})).text).toBe('hello');
      const request = model.requests.at(-1);
      return request === undefined ? [] : listToolNames(request.body);
    };
    // The MCP server connects some time after startup.
    await expect.poll(offeredNow, { timeout: 30_000 }).toContain('odd_tool0');
    const offered = await offeredNow();
    expect(offered).toEqual(expect.arrayContaining(['slow', 'look']));
    expect(offered.filter((name) => /^(?:ambiguous|doubled)/.test(name))).toEqual([]);
  });

  it('[D13] are refused with 400 when an API client sends them', async () => {
    for (const { what, schema } of HOSTILE_SCHEMAS) {
      const { status, error } = await post(GUEST, format(schema));
      expect([what, status, error?.code]).toEqual([what, 400, 'invalid_response_format']);
    }
  });

  if (isDueToday(0, SLOW_KINDS))
    it('[D13] are stopped when they make checking an answer slow, for an agent and for clients', async () => {
      for (const { schema, value } of SLOW_OF_CLIENTS) {
        next = JSON.stringify(value);
        const { error } = await post(GUEST, format(schema));
        expect(error?.message).toContain('Could not check whether the model');
      }
      next = JSON.stringify(slowAnswer?.value);
      const { error } = await post(STRICT, {});
      expect(error?.message).toContain('Could not check whether the model');
    });

  if (isDueToday(1, SLOW_KINDS))
    it("[D13] cause a refusal that the model sees when they make checking a call's arguments slow", async () => {
      next = { name: 'slow', arguments: { text: SLOW_PATTERN.text } };
      expect((await post(GUEST, {})).text).toContain(
        'slow was not run, because its arguments cannot be checked',
      );
    });

  if (isFullRun())
    it("[D13] cause a refusal when they are too large for an MCP call's arguments", async () => {
      next = { name: 'odd_tool0', arguments: Object(WIDE.value) };
      expect((await post(GUEST, {})).text).toContain(
        'odd_tool0 was not run, because its arguments cannot be checked',
      );
    });

  it('[D13] [G05] are evaluated immediately in approvals.auto', async () => {
    next = { name: 'look', arguments: { text: 'a'.repeat(100_000) } };
    expect((await post(GUEST, {})).text).toMatch(/^It says: look/);
  });

  it('[D13] [D12] are reported when settings that contain them are loaded', async () => {
    const [ambiguous] = HOSTILE_SCHEMAS;
    const other = makeDataFolder({ agent: { responseFormat: ambiguous?.schema } });
    const { code, out, err } = await runCommand(['--data', other.path, 'config', 'check']);
    other.remove();
    expect(code).not.toBe(0);
    expect(`${out}${err}`).toContain('agent.responseFormat');
    expect(`${out}${err}`).toContain('several ways');
  });

  // This test needs two complete starts and checks; other tests also cover a killed process that
  // resumes its turn.
  if (isFullRun())
    it('[G16] are stopped again after a kill and a restart, and the next message is answered', async () => {
      next = JSON.stringify(slowAnswer?.value);
      const asked = model.requests.length;
      const cut = post(GUEST, format(slowAnswer?.schema ?? {})).catch(() => null);
      await expect.poll(() => model.requests.length).toBeGreaterThan(asked);
      watching = false;
      await watch;
      await parley.end('SIGKILL');
      await cut;
      parley = await startParleyProcess(folder.path);
      watching = true;
      watch = watchHealth();
      await expect
        .poll(() => model.requests.length, { timeout: 30_000 })
        .toBeGreaterThan(asked + 1);
      next = 'again';
      expect((await post(GUEST, {})).text).toBe('again');
    });

  it('[D13] never block the health endpoint', async () => {
    watching = false;
    await watch;
    expect(took.length).toBeGreaterThan(isFullRun() ? 50 : 10);
    process.stdout.write(`health: ${took.length} answers, slowest ${Math.max(...took)} ms\n`);
  });
});
