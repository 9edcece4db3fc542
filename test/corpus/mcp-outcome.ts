import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createToolRegistry, openMcp } from '@parley/agent';
import { silentLogger, systemTime } from '@parley/core';
import { EXAMPLE_FACTS } from '@parley/core/testing';
import {
  createMessageReader,
  createReadableFetch,
  createStdioTransport,
  formatPrompt,
  formatResult,
  type ListedEntries,
  parseCatalog,
  toEntryList,
} from '@parley/tools/testing/mcp-reading';
import { openWorkspace } from '@parley/workspace';

const SERVER = {
  url: 'http://mcp.test/',
  args: [],
  env: {},
  headers: {},
  tools: { block: [] },
  audience: 'everyone',
  timeoutMs: 1_000,
} as const;
const NONE: ListedEntries = { items: [], problem: null };
/** What the input answers, where it is a message of its own. */
const REQUEST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } as const;

/**
 * What becomes of one input. `.txt`: the output of a program that was asked for its tools. `.http`: an answer over
 * HTTP to the same, with its headers. `.json`: the result of a request, or one tool.
 */
export async function readOutcome(name: string, input: Buffer): Promise<object> {
  if (name.endsWith('.txt')) return { messages: readOutputMessages(input) };
  if (name.endsWith('.http')) return { answer: await answerOverHttp(input.toString('utf8')) };
  const said: unknown = JSON.parse(input.toString('utf8'));
  const kind = getInputKind(said);
  if (kind === 'prompts') return listOfferedPrompts(said);
  if (kind === 'messages') return { text: formatPrompt(said) };
  if (kind === 'tools') return await listOfferedTools(said);
  const { text, failed, files = [] } = formatResult(said);
  const named = files.map(({ bytes, ...file }) => ({ ...file, bytes: bytes.length }));
  return { text, failed, ...(named.length > 0 && { files: named }) };
}

function getInputKind(said: unknown): 'tools' | 'prompts' | 'messages' | 'result' {
  const keys = typeof said === 'object' && said !== null ? Object.keys(said) : [];
  if (keys.includes('prompts')) return 'prompts';
  if (keys.includes('messages')) return 'messages';
  return keys.includes('tools') || keys.includes('inputSchema') ? 'tools' : 'result';
}

function toToolList(said: unknown): ListedEntries {
  const isOne = typeof said === 'object' && said !== null && 'inputSchema' in said;
  const items = toEntryList(isOne ? { tools: [said] } : said, 'tools');
  return items === null ? { items: [], problem: 'not a list' } : { items, problem: null };
}

const remarks = (all: readonly { readonly what: string; readonly reason: string }[]) =>
  Object.fromEntries(all.map(({ what, reason }) => [what, reason]));

/** What a model is offered: through the real servers, tools and registry, with a connection that is played. */
async function openStage(said: unknown) {
  const sent: unknown[] = [];
  const catalogue = parseCatalog(toToolList(said), NONE);
  const mcp = await openMcp(
    { s: SERVER },
    {
      ...systemTime,
      env: {},
      random: () => 0,
      log: silentLogger,
      connect: async () => ({
        ended: Promise.withResolvers<string>().promise,
        list: async () => catalogue,
        call: async (_tool, input) => {
          sent.push(input);
          return { text: '', failed: false };
        },
        prompt: async () => '',
        resources: async () => '',
        resource: async () => ({ text: '', failed: false }),
        close: async () => {},
      }),
    },
  );
  while (mcp.lines()[0]?.works !== true) await new Promise(setImmediate);
  const problems: string[] = [];
  const { registry } = createToolRegistry({
    builtIn: [],
    live: mcp.tools,
    onProblem: ({ tool, message }) => void problems.push(`${tool}: ${message}`),
  });
  const tools = registry.for({ kind: 'owner', conversationId: 'c' });
  return { catalogue, mcp, sent, problems, tools };
}

async function listOfferedTools(said: unknown): Promise<object> {
  const { catalogue, mcp, problems, tools } = await openStage(said);
  await mcp.close();
  const { refused, changed } = catalogue;
  return {
    offered: tools.definitions,
    ...(refused.length > 0 && { leftOut: remarks(refused) }),
    ...(changed.length > 0 && { changed: remarks(changed) }),
    ...(problems.length > 0 && { problems }),
  };
}

/** What a server is sent of the arguments of a model; nothing where they do not fit. */
export async function listServerCalls(
  input: Buffer,
  calls: readonly { readonly tool: string; readonly given: unknown }[],
): Promise<readonly object[]> {
  const { mcp, sent, tools } = await openStage(JSON.parse(input.toString('utf8')));
  const call = await createCallContext();
  const made: object[] = [];
  for (const { tool, given } of calls) {
    const found = tools.get(tool);
    const read = found?.input.safeParse(given);
    const before = sent.length;
    if (read?.success === true) await found?.run(read.data, call);
    made.push(sent.length > before ? { tool, given, sent: sent.at(-1) } : { tool, given });
  }
  await mcp.close();
  return made;
}

async function createCallContext() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-corpus-'));
  const workspace = await openWorkspace({ folder, templates: folder });
  rmSync(folder, { recursive: true, force: true });
  const reader = { kind: 'owner', conversationId: 'c' } as const;
  return {
    ...{ callId: 't.0.0', turnId: 't', session: 0, reader, facts: EXAMPLE_FACTS },
    ...{ view: workspace.for(reader), clock: systemTime.clock, log: silentLogger },
    signal: new AbortController().signal,
  };
}

function listOfferedPrompts(said: unknown): object {
  const items = toEntryList(said, 'prompts');
  const { prompts, refused, changed } = parseCatalog(NONE, { items: items ?? [], problem: null });
  return {
    prompts,
    ...(refused.length > 0 && { leftOut: remarks(refused) }),
    ...(changed.length > 0 && { changed: remarks(changed) }),
  };
}

function readOutputMessages(output: Buffer): readonly unknown[] {
  const streams = [new PassThrough(), new PassThrough(), new PassThrough()] as const;
  const transport = createStdioTransport({
    server: {
      input: streams[0],
      output: streams[1],
      errors: streams[2],
      ended: Promise.withResolvers<string>().promise,
      end: async () => {},
      kill: () => {},
    },
  });
  const messages: unknown[] = [];
  transport.onmessage = (message) => void messages.push(message);
  void transport.start();
  void transport.send({ ...REQUEST });
  streams[1].emit('data', output);
  return messages;
}

async function answerOverHttp(text: string): Promise<object> {
  const [head = '', body = ''] = text.split(/\r?\n\r?\n(.*)/s);
  const [status = '200', ...lines] = head.split(/\r?\n/);
  const headers = lines.map((line) => line.split(/: */) as [string, string]);
  const fetch = createReadableFetch(
    async () => new Response(body, { status: Number(status), headers }),
    {
      reader: createMessageReader(),
      onSessionLost: () => {},
    },
  );
  try {
    const init = { method: 'POST', body: JSON.stringify(REQUEST) };
    const answer = await fetch('http://mcp.test/', init);
    const type = answer.headers.get('content-type');
    return { status: answer.status, type, body: await answer.text() };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}
