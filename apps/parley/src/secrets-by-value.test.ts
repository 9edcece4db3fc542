import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scrubPart } from '@parley/channels';
import { createLogger, openSecrets } from '@parley/core/telemetry';
import { CHANNEL_DEFINITIONS, scrubResponse } from '@parley/gateway';
import { type ChatModel, type ModelEvent, ModelSettings } from '@parley/models';
import { loadSettings } from '@parley/settings';
import { createSettingsJsonSchema } from '@parley/settings/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createScrubbedModel } from './model.ts';

const SCHEMAS = {
  modelSchema: ModelSettings,
  channelSchemas: Object.fromEntries(CHANNEL_DEFINITIONS.map(({ id, settings }) => [id, settings])),
};

/** The parts of a JSON Schema that the test reads. */
const Node = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).default([]),
  oneOf: z.array(z.unknown()).default([]),
});

type Path = readonly (string | number)[];
type Kind = 'secret' | 'address';

/**
 * The pattern for secret names is broader than the program's own pattern, so that secret fields
 * with unusual names are also found.
 */
const SECRET = /token|key$|secret|passw|passphrase|credential|authoriz|cookie|bearer/i;

/** Lists every settings field that holds a secret, or an address that may contain a secret. */
function fieldsOf(schema: unknown, path: Path = []): { path: Path; kind: Kind }[] {
  const node = Node.safeParse(schema).data;
  if (node === undefined || path.length > 8) return [];
  const { properties, additionalProperties, items, anyOf, oneOf, type, format } = node;
  const choices = [...anyOf, ...oneOf];
  // Numbers may also be written as references to variables.
  const isAmount = choices.some((one) =>
    /integer|number/.test(String(Node.safeParse(one).data?.type)),
  );
  const isText = [type].flat().includes('string') && node.enum === undefined;
  return [
    ...(isText ? ownField(path, format) : []),
    ...Object.entries(properties).flatMap(([name, below]) => fieldsOf(below, [...path, name])),
    ...fieldsOf(additionalProperties, [...path, 'x1']),
    ...fieldsOf(items, [...path, 0]),
    ...choices.flatMap((one) => (isAmount ? [] : fieldsOf(one, path))),
  ];
}

function ownField(path: Path, format: string | undefined): { path: Path; kind: Kind }[] {
  const name = String(path.findLast((step) => typeof step === 'string'));
  const inBlock = path.at(-2) === 'headers' || path.at(-2) === 'env';
  if (inBlock || SECRET.test(name)) return [{ path, kind: 'secret' }];
  return format === 'uri' || /url$|apiRoot/i.test(name) ? [{ path, kind: 'address' }] : [];
}

/** Sets the value at a path, replacing the existing value. */
function put(root: Record<string, unknown>, path: Path, value: string): void {
  let place: Record<string | number, unknown> = root;
  for (const [nth, step] of path.slice(0, -1).entries()) {
    const empty = typeof path[nth + 1] === 'number' ? [] : {};
    const next = place[step] ?? empty;
    place[step] = next;
    place = z.custom<Record<string | number, unknown>>().parse(next);
  }
  place[path.at(-1) ?? ''] = value;
}

let folder: string;
let canaries: string[];
let overlooked: string[];
let secrets: ReturnType<typeof openSecrets>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
  const fields = new Map(
    fieldsOf(createSettingsJsonSchema(SCHEMAS)).map((field) => [JSON.stringify(field.path), field]),
  );
  canaries = [];
  overlooked = [];
  const found: string[] = [];
  for (const { path, kind } of fields.values()) {
    // Each field is tested with separate settings, because neighboring fields in the schema may be
    // mutually exclusive.
    const own = canary('alone');
    const [user, password, key] = [canary('in a URL'), canary('in a URL'), canary('in a URL')];
    const settings = {};
    const address = `https://${user}:${password}@h.example/mcp?page=1&x=${key}`;
    put(settings, path, kind === 'secret' ? own : address);
    const file = join(folder, 'parley.yaml');
    writeFileSync(file, JSON.stringify(settings));
    const { secrets: here } = loadSettings({ file, env: {}, dataFolder: folder, ...SCHEMAS });
    found.push(...here);
    const values = kind === 'secret' ? [own] : [user, password, key];
    canaries.push(...values);
    if (!values.every((one) => here.includes(one))) overlooked.push(path.join('.'));
  }
  secrets = openSecrets(found);
});
afterAll(() => rmSync(folder, { recursive: true }));

let nth = 0;
/**
 * Creates a unique value with characters that JSON, HTML and URLs escape; a value for a URL does
 * not contain such characters.
 */
function canary(place: 'alone' | 'in a URL'): string {
  nth += 1;
  return place === 'alone' ? `canary-${nth}-"x&y` : `canary-${nth}-z`;
}

/**
 * Returns all secrets, in the forms in which an MCP server, a library or a person may write them.
 */
function everything(): string {
  return canaries.flatMap((one) => [one, encodeURIComponent(one), JSON.stringify(one)]).join('\n');
}

function expectNone(text: string): void {
  // Matches the secret's value unchanged, escaped, or in part.
  expect(/.{0,10}canary-.{0,20}/.exec(text)?.[0]).toBeUndefined();
}

describe('[G18] no secret from any settings field', () => {
  it('is overlooked by the test', () => {
    expect(canaries.length).toBeGreaterThan(40);
    expect(overlooked).toEqual([]);
  });

  it('reaches the model or, through the model, a person, even while an answer is streamed', async () => {
    const asked: string[] = [];
    const echo: ChatModel = {
      id: 'echo',
      async *stream(request): AsyncIterable<ModelEvent> {
        asked.push(JSON.stringify(request));
        const text = everything();
        for (let at = 0; at < text.length; at += 7) {
          yield { type: 'text', text: text.slice(at, at + 7) };
        }
        const call = { id: '1', name: 't', arguments: JSON.stringify({ text }) };
        yield { type: 'tool-call', call };
        const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, estimated: false };
        const end = { usage, finishReason: 'stop', model: 'echo', costUsd: null };
        yield { type: 'finish', text, ...end };
      },
    };
    const content = everything();
    const heard: string[] = [];
    const tool = { name: 't', description: content, inputSchema: { description: content } };
    const request = {
      system: [{ text: content, stable: true }],
      messages: [
        { role: 'user', content, said: content, attached: [content] },
        {
          role: 'assistant',
          content,
          toolCalls: [{ id: '1', name: 't', arguments: content }],
        },
        { role: 'tool', callId: '1', name: 't', content, failed: true },
      ],
      tools: [tool],
    } as const;
    const { signal } = new AbortController();
    for await (const event of createScrubbedModel(echo, secrets).stream(request, signal)) {
      heard.push(event.type === 'text' ? event.text : JSON.stringify(event));
    }
    expectNone(asked.join());
    expectNone(heard.join(''));
  });

  it('appears in a log line, its fields, its message or its error', () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLogger({
      level: 'debug',
      format: 'json',
      scrub: secrets.scrubLog,
      destination,
    });
    log.warn({ reason: everything(), error: new Error(everything()) }, everything());
    expectNone(lines.join());
  });

  it('is sent to a chat, as text or on a button', () => {
    const target = { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' } as const;
    const route = { channel: 'c', account: 'a', chatId: '1', target };
    for (const one of canaries) {
      const part = {
        id: '1',
        idempotencyKey: '1',
        turnId: null,
        index: null,
        route,
        body: { text: `<b>${one}</b>`, plain: one },
        buttons: [{ label: one.slice(0, 64), data: '/x' }],
      };
      expectNone(JSON.stringify(scrubPart(part, secrets.scrub)));
    }
  });

  it('leaves over HTTP in the status, the metrics or the events of a page', async () => {
    const bytes = new TextEncoder().encode(`data: ${JSON.stringify(everything())}\n\n`);
    const pieces = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 11) {
          controller.enqueue(bytes.slice(at, at + 11));
        }
        controller.close();
      },
    });
    const inBytes = Buffer.concat([Buffer.of(0, 255, 128), Buffer.from(everything())]);
    const said: readonly (readonly [string, string | Buffer | ReadableStream])[] = [
      ['application/json', JSON.stringify({ mcp: everything() })],
      ['application/problem+json', JSON.stringify({ mcp: everything() })],
      ['text/html; charset=utf-8', `<p>${everything()}</p>`],
      ['text/javascript', everything()],
      ['application/octet-stream', inBytes],
      ['image/png', inBytes],
      ['', inBytes],
      ['text/plain; version=0.0.4', `parley_x{reason=${JSON.stringify(everything())}} 1`],
      ['text/event-stream', pieces],
    ];
    for (const [type, body] of said) {
      const response = new Response(body, { headers: { 'content-type': type } });
      const text = await (await scrubResponse(response, secrets)).text();
      expectNone(text);
      expect(text).toContain('[secret]');
    }
  });
});
