import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ChatRequest, getMessageText, listToolNames } from '../model/chat-request.ts';
import { findFreePort } from '../services/free-port.ts';
import { isRunning } from '../services/is-running.ts';
import { makeDataFolder, type ParleyProcess, runCommand } from './parley-process.ts';
import {
  ANN,
  GROUP,
  startSeparateTelegramScene,
  startTelegramScene,
  type TelegramScene,
} from './telegram-scene.ts';

const { resolve: find } = createRequire(import.meta.url);
const EVERYTHING = find('@modelcontextprotocol/server-everything/dist/index.js');
const FILESYSTEM = find('@modelcontextprotocol/server-filesystem/dist/index.js');
const NODE = process.execPath;
/** In ms, and generous because a busy machine is slow. */
const SETTLING = { interval: 300, timeout: 30_000 };

let scene: TelegramScene;

/** Starts Parley with these servers and waits until the model is offered their tools. */
async function withServers(mcp: object, settled: RegExp): Promise<void> {
  scene = await startTelegramScene({}, { mcp });
  await vi.waitFor(async () => expect(await status()).toMatch(settled), SETTLING);
}

/** Starts Parley with MCP servers in a separate process. */
async function withServersApart(mcp: object, settled: RegExp): Promise<ParleyProcess> {
  const started = await startSeparateTelegramScene({}, { mcp });
  scene = started.scene;
  await vi.waitFor(async () => expect(await status()).toMatch(settled), SETTLING);
  return started.parley;
}

async function status(): Promise<string> {
  return (await runCommand(['--data', scene.folder.path, 'status'])).out;
}

const results = ({ messages }: ChatRequest) =>
  messages.filter(({ role }) => role === 'tool').map((message) => getMessageText(message));
const systemOf = ({ messages }: ChatRequest) => getMessageText(messages[0]);

/** A model that calls one tool and reports the result. */
function calls(name: string, input: object): void {
  scene.model.reply((request) => {
    const [found] = results(request);
    if (found !== undefined) return `It says: ${found}`;
    return { toolCalls: [{ name, arguments: input }] };
  });
}

async function ask(text: string): Promise<string> {
  const before = scene.answers(ANN).length;
  scene.telegram.say({ chat: ANN, text });
  return (await scene.untilAnswers(ANN, before + 1)).at(-1) ?? '';
}

const lastRequest = (): ChatRequest => {
  const body = scene.model.requests.at(-1)?.body;
  if (body === undefined) throw new Error('the model was asked');
  return body;
};

/** `others` collects further processes that the test must end. */
async function startHttpServer(port: number, others: ChildProcess[]): Promise<ChildProcess> {
  const server = spawn(NODE, [EVERYTHING, 'streamableHttp'], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  others.push(server);
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${port}/mcp`).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  return server;
}

describe('[G03] an agent with an MCP server', () => {
  beforeAll(() =>
    withServers({ every: { command: NODE, args: [EVERYTHING] } }, /every: connected/),
  );
  afterAll(() => scene.close());

  it("validates arguments against the server's schema before the call", async () => {
    calls('every_get_sum', { a: 'one' });
    const answer = await ask('add');
    expect(answer).toContain('every_get_sum was not run, because its arguments do not fit');
    calls('every_get_sum', { a: 1, b: 2 });
    expect(await ask('add')).toContain('The sum of 1 and 2 is 3');
  });

  it("lists and reads a server's resources, marked as untrusted text", async () => {
    calls('every_resources', {});
    await ask('what is there?');
    const [listed] = results(lastRequest());
    expect(listed).toMatch(/<outside id="(\w+)">\nResources:\n- demo:\/\/resource\//);
    const uri = 'demo://resource/dynamic/text/1';
    calls('every_resources', { uri });
    expect(await ask('read it')).toContain('[demo://resource/dynamic/te');
    calls('every_resources', { uri: 'demo://none' });
    expect(await ask('read another')).toContain('every_resources');
  });

  it('lets a person pick a prompt', async () => {
    scene.model.reply(() => 'Fine.');
    await ask('/mcp__every__args-prompt city=Rome');
    expect(JSON.stringify(lastRequest())).toContain("\\nWhat's weather in Rome?\\n</outside");
    await ask('/mcp__every__args-prompt');
    expect(JSON.stringify(lastRequest())).toContain('cannot be used without: city');
    // Only the turn in which the prompt was chosen contains the prompt.
    await ask('and now?');
    expect(JSON.stringify(lastRequest())).not.toContain("What's weather");
  });
});

describe('[G03] an agent with MCP servers', () => {
  let others: ChildProcess[] = [];
  afterEach(async () => {
    await scene.close();
    for (const other of others) other.kill('SIGKILL');
    others = [];
  });

  it('uses tools of two servers over stdio, only for the owner', async () => {
    const { path: shelf, remove } = makeDataFolder({});
    onTestFinished(remove);
    writeFileSync(join(shelf, 'birds.md'), 'Parrots talk.');
    await withServers(
      {
        every: { command: NODE, args: [EVERYTHING], connector: 'A box of samples.' },
        files: { command: NODE, args: [FILESYSTEM, shelf], tools: { block: ['list_directory'] } },
      },
      /mcp +every: connected, 13 tools, 4 prompts\nmcp +files: connected, 14 tools/,
    );
    // [U05] Tool descriptions are accepted when first seen; the audit notices a change.
    const accepted = readFileSync(join(scene.folder.path, 'mcp-accepted.json'), 'utf8');
    expect(Object.keys(JSON.parse(accepted).every.tools)).toContain('echo');
    calls('files_read_text_file', { path: join(shelf, 'birds.md') });
    expect(await ask('what do parrots do?')).toContain('\nParrots talk.\n</outside');
    const offered = listToolNames(lastRequest());
    expect(offered).toEqual(expect.arrayContaining(['every_echo', 'files_read_text_file', 'read']));
    expect(offered).not.toContain('files_list_directory');
    const system = systemOf(lastRequest());
    expect(system).toContain('\n- External MCP: `every_echo`, ');
    expect(system).toContain('## Connectors\n- every: A box of samples.');
    expect(system).toContain('/mcp__every__args-prompt city=… state=…');
    scene.model.reply(() => 'Hello.');
    scene.telegram.say({ chat: GROUP, from: 77, text: 'hi @parley_test_bot' });
    await scene.untilAnswers(GROUP, 1);
    expect(JSON.stringify(lastRequest())).not.toMatch(/every_|files_|box of samples|mcp__/);
  });

  it("uses a server over HTTP, and the server's text and tools disappear and return with it", async () => {
    const port = await findFreePort();
    const first = await startHttpServer(port, others);
    const url = `http://127.0.0.1:${port}/mcp`;
    await withServers({ desk: { url, connector: 'The desktop of Ann.' } }, /desk: connected/);
    calls('desk_echo', { message: 'over HTTP' });
    expect(await ask('echo')).toMatch(
      /<outside id="(\w+)">\nEcho: over HTTP\n<\/outside id="\1">$/,
    );
    expect(systemOf(lastRequest())).toContain('The desktop of Ann.');
    first.kill('SIGKILL');
    await once(first, 'exit');
    await ask('again');
    await expect.poll(status, { interval: 300 }).toContain('desk: not connected');
    await ask('again');
    expect(systemOf(lastRequest())).not.toContain('The desktop of Ann.');
    expect(listToolNames(lastRequest())).not.toContain('desk_echo');
    await startHttpServer(port, others);
    await expect.poll(status, { interval: 500 }).toContain('desk: connected');
    expect(await ask('echo')).toContain('Echo: over HTTP\n</outside');
  });

  it('starts, answers and stops normally with servers that cannot be started or never complete the handshake', async () => {
    await withServers(
      {
        gone: { command: 'no-such-program' },
        mute: { command: 'sleep', args: ['600'] },
        away: { url: 'http://127.0.0.1:9/mcp' },
      },
      /gone: not connected.*no program no-such-program; install it, or correct “command”\n.*mute: connecting\n.*away: not connected/,
    );
    scene.model.reply(() => 'Hello.');
    expect(await ask('hi')).toBe('Hello.');
    const asked = Date.now();
    await scene.parley.end();
    expect(Date.now() - asked).toBeLessThan(8_000);
  });

  it('does not leave child processes behind when Parley is killed', async () => {
    const { path, remove } = makeDataFolder({});
    onTestFinished(remove);
    const file = join(path, 'mute.pid');
    const mute = { command: 'sh', args: ['-c', `echo $$ > "${file}"; exec sleep 600`] };
    const parley = await withServersApart({ mute }, /mute: connecting/);
    // An MCP server is "connecting" from the moment its process is started.
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/^\d+\n$/);
    const pid = Number(readFileSync(file, 'utf8'));
    expect(isRunning(pid)).toBe(true);
    await parley.end('SIGKILL');
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});
