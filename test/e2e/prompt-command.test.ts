import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand, runParley } from './parley-process.ts';
import { createWebClient, type WebClient } from './web-client.ts';

const Part = z.object({
  layer: z.string(),
  placement: z.enum(['tools', 'system', 'user']),
  text: z.string(),
  audience: z.object({ kind: z.string() }),
});
const Prompt = z.object({
  turnId: z.string().optional(),
  parts: z.array(Part),
  tools: z.array(z.string()),
  tokens: z.int(),
  sections: z.array(z.object({ name: z.string(), tokens: z.int() })),
});
type Prompt = z.infer<typeof Prompt>;

const CANARY = 'pelican-17';

/** The message id of a preview on the command line. */
const IMAGINED = 'hypothetical';

describe('parley prompt', () => {
  let model: ModelDouble;
  let folder: DataFolder;
  let parley: TestParley;
  let web: WebClient;
  beforeAll(async () => {
    model = await startModelDouble();
    model.reply(() => 'fine');
    folder = makeDataFolder({
      model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
      lanes: { collectPauseMs: 50 },
      http: { port: 0 },
      agent: { ephemeral: 'Today everything is blue.' },
    });
    // An established workspace, which the prompt describes identically every time.
    mkdirSync(join(folder.path, 'workspace'));
    writeFileSync(join(folder.path, 'workspace', 'AGENTS.md'), '# Work\nBe brief.\n');
    writeFileSync(join(folder.path, 'workspace', 'MEMORY.md'), `# Memory\n${CANARY}\n`);
    parley = await startParleyInProcess(folder.path);
    web = createWebClient(parley);
  });
  afterAll(async () => {
    await parley.discard();
    await model.close();
    folder.remove();
  });

  const prompt = (...args: readonly string[]) =>
    runCommand(['--data', folder.path, 'prompt', ...args]);
  const asJson = async (...args: readonly string[]) =>
    Prompt.parse(JSON.parse((await prompt(...args, '--json')).out));

  async function ask(text: string, id: string): Promise<void> {
    const before = (await web.history()).length;
    await web.post(text, JSON.stringify({ id, text }));
    await expect.poll(async () => (await web.history()).length).toBe(before + 2);
  }

  it('[P17] previews, byte for byte, the prompt that a real turn sends', async () => {
    const seen = stateOf(folder.path);
    const imagined = await asJson('--channel', 'web', '--text', 'What is on today?');
    expect(stateOf(folder.path)).toEqual(seen);
    await ask('What is on today?', IMAGINED);
    const { system, user } = sentLast(model);
    expect(withoutTime(textOf(imagined, 'system'))).toBe(withoutTime(system));
    const words = `${textOf(imagined, 'user')}\n\nWhat is on today?`;
    expect(withoutTime(words)).toBe(withoutTime(user));
    expect(system).toContain(CANARY);
  });

  it('[P17] shows for the last turn exactly what was sent', async () => {
    await ask('And tomorrow?', 'message-2');
    const { system, user } = sentLast(model);
    const last = await asJson('--last');
    expect(textOf(last, 'system')).toBe(system);
    expect(`${textOf(last, 'user')}\n\nAnd tomorrow?`).toBe(user);
    expect(await asJson('--message', 'message-2')).toEqual(last);
    expect(await asJson('--turn', last.turnId ?? '')).toEqual(last);
  });

  it('[P17] counts tools, history and message in addition to the layers, as parley why does', async () => {
    const last = await asJson('--last');
    const names = ['tools', 'system', 'context', 'history', 'message'];
    expect(last.sections.map(({ name }) => name)).toEqual(names);
    expect(last.tokens).toBe(last.sections.reduce((sum, { tokens }) => sum + tokens, 0));
    const { out } = await prompt('--last');
    expect(out).toContain(`about ${last.tokens.toLocaleString('en-US')} tokens`);
    expect(out).toMatch(/tool definitions +\d+ tools +[\d,]+ +[\d,]+$/m);
    expect(out).toMatch(/history +2 messages +\d+ +\d+$/m);
    const why = await runCommand(['--data', folder.path, 'why', 'last']);
    expect(why.out).toContain(`about ${last.tokens} tokens`);
  });

  it('[P17] [W02] names the audience of each layer, and the reason why a layer is absent', async () => {
    const { out } = await prompt('--last');
    expect(out).toMatch(/memory-file +MEMORY\.md +owner +[\d,]+ +\d+/);
    expect(out).toMatch(/agents-file +AGENTS\.md +everyone/);
    expect(out).toMatch(/heartbeat +absent: /);
    expect(out).not.toContain(CANARY);
    expect((await prompt('--last', '--full')).out).toContain(CANARY);
    const group = await prompt(
      '--channel',
      'telegram',
      '--chat',
      'group',
      '--person',
      '5',
      '--full',
    );
    expect(group.out).not.toContain(CANARY);
    expect(group.out).toMatch(/memory-file +absent: MEMORY\.md: private/);
  });

  it('[P09] [P17] shows the shared beginning of two turns, and the difference between them', async () => {
    const { out, code } = await prompt('--diff');
    expect(code).toBe(0);
    expect(out).toMatch(/shared {2}the first [\d,]+ characters/);
    expect(out).toMatch(/^= agents-file$/m);
    expect(out).toContain('the shared prefix ends here');
    expect(out).toMatch(/^ +- .*hypothetical/m);
    expect(out).toMatch(/^ +\+ .*message-2/m);
  });

  it('[H10] [P17] previews, byte for byte, the prompt that the heartbeat sends', async () => {
    const tasks = '## mail\n- every: 30 min\n- do: Look through new mail.\n';
    writeFileSync(join(folder.path, 'workspace', 'HEARTBEAT.md'), tasks);
    const imagined = await asJson('--channel', 'web', '--heartbeat');
    const before = model.requests.length;
    expect((await runCommand(['--data', folder.path, 'heartbeat', 'now', 'mail'])).code).toBe(0);
    await expect.poll(() => model.requests.length).toBe(before + 1);
    const { system, user } = sentLast(model);
    expect(withoutTime(textOf(imagined, 'system'))).toBe(withoutTime(system));
    const [context] = withoutTime(user).split('\n\n⚙️ A standing task is due');
    expect(withoutRunId(withoutTime(textOf(imagined, 'user')))).toBe(withoutRunId(context ?? ''));
    const { tools = [] } = model.requests.at(-1)?.body ?? {};
    const sent = tools.map(({ function: { name, description, parameters } }) =>
      JSON.stringify({ name, description, inputSchema: parameters }),
    );
    expect(textOf(imagined, 'tools')).toBe(sent.join('\n'));
    expect(imagined.tools).toEqual(tools.map((tool) => tool.function.name));
    expect(system).toContain('Look through new mail.');
    await expect
      .poll(async () => (await asJson('--last')).parts.some(({ layer }) => layer === 'heartbeat'))
      .toBe(true);
    expect((await asJson('--last')).tools).toEqual(imagined.tools);
  });

  it('[P17] selects the prompt from a list of turns, also by chat', async () => {
    const { out } = await prompt('--list');
    expect(out.match(/web:default:main/g)).toHaveLength(2);
    expect((await prompt('--list', '--limit', '1')).out.match(/^ {2}turn_/gm)).toHaveLength(1);
    const nowhere = await runParley([
      '--data',
      folder.path,
      'prompt',
      '--list',
      '--chat',
      'nowhere',
    ]);
    expect(nowhere.code).toBe(1);
    expect(nowhere.err).toContain('No prompt has been recorded in the chat "nowhere" yet');
  });

  it('[G07] [P17] previews, byte for byte, the prompt that a sub-agent gets for a task', async () => {
    const task = 'Compare the parrots on https://parrots.example/all and say which talks.';
    const imagined = await asJson('--channel', 'web', '--mode', 'minimal', '--text', task);
    const isTask = (request: (typeof model.requests)[number]['body']) =>
      JSON.stringify(request.messages).includes('## Your task');
    model.reply((request) => {
      if (isTask(request)) return 'The grey one.';
      if (request.messages.at(-1)?.role === 'tool') return 'It is under way.';
      const isAsked = JSON.stringify(request.messages.at(-1)).includes('Hand it on');
      if (!isAsked) return 'fine';
      return { toolCalls: [{ name: 'delegate_task', arguments: { title: 'parrots', task } }] };
    });
    await web.post('Hand it on', JSON.stringify({ id: 'hand-it-on', text: `Hand it on: ${task}` }));
    await expect.poll(() => model.requests.some(({ body }) => isTask(body))).toBe(true);
    const sent = model.requests.find(({ body }) => isTask(body))?.body;
    const of = (role: string) =>
      sent?.messages.findLast((message) => message.role === role)?.content;
    expect(withoutTime(textOf(imagined, 'system'))).toBe(withoutTime(String(of('system'))));
    expect(imagined.tools).toEqual(sent?.tools?.map((tool) => tool.function.name));
    expect(imagined.tools).not.toContain('message');
    const first = '⚙️ Do the task that your instructions end with.';
    const [context = ''] = withoutTime(String(of('user'))).split(`\n\n${first}`);
    const idless = (text: string) => text.replaceAll(/sub_[\w-]+|hypothetical/g, 'ID');
    expect(idless(withoutTime(textOf(imagined, 'user')))).toBe(idless(context));
  });
});

/** The last system prompt and user message sent to the model. */
function sentLast(model: ModelDouble): { readonly system: string; readonly user: string } {
  const messages = model.requests.at(-1)?.body.messages ?? [];
  const of = (role: string) => messages.findLast((message) => message.role === role)?.content;
  return { system: z.string().parse(of('system')), user: z.string().parse(of('user')) };
}

function textOf({ parts }: Prompt, placement: 'tools' | 'system' | 'user'): string {
  return parts
    .filter((part) => part.placement === placement)
    .map(({ text }) => text)
    .join('\n\n');
}

/** Minutes pass between two turns. */
function withoutTime(text: string): string {
  return text.replaceAll(/\b\d{2}:\d{2}\b/g, '--:--');
}

/** A manual run has a different id from the next scheduled run. */
function withoutRunId(text: string): string {
  return text.replaceAll(/beat_main_\d+|asked:[\w:-]+/g, 'RUN');
}

/**
 * Every file in a folder with its content, except for files that a running database changes by
 * itself.
 */
function stateOf(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/\.db|^lock$|^logs\//.test(name) && statSync(join(folder, name)).isFile())
    .sort();
  return new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
