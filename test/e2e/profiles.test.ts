import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, writeSettings } from './parley-process.ts';
import { createWebClient } from './web-client.ts';

const WREN = 'You are company rather than a service';
const EXAMINER = 'You are a sober examiner';
const PIPE = 'Begin every answer with one feeling, a vertical bar';
const BRACKET = 'Begin every answer with one feeling in square brackets';

let model: ModelDouble;
let folder: DataFolder;
let parley: TestParley | undefined;

beforeAll(async () => {
  model = await startModelDouble({ reply: () => 'So be it.' });
  folder = makeDataFolder({});
});
afterAll(async () => {
  await parley?.discard();
  await model.close();
  folder.remove();
});

/** Restarts Parley with the given agent settings. */
async function restart(agent: object, more: object = {}): Promise<void> {
  await parley?.end();
  writeSettings(folder.path, {
    agent,
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 20 },
    http: { port: 0 },
    ...more,
  });
  parley = await startParleyInProcess(folder.path);
}

/** Writes as the owner, waits for the answer, and returns everything sent to the model. */
async function say(text: string): Promise<string> {
  if (parley === undefined) throw new Error('nothing runs');
  const web = createWebClient(parley);
  const before = (await web.history()).length;
  await web.post(text);
  await expect.poll(async () => (await web.history()).length).toBeGreaterThan(before + 1);
  const request = model.requests.findLast(({ body }) =>
    getMessageText(body.messages.at(-1)).endsWith(text),
  );
  return request?.body.messages.map(getMessageText).join('\n\n') ?? '';
}

describe('an agent with a profile', () => {
  it('[P14] [P15] uses the persona and the format that the profile names', async () => {
    await restart({ profile: 'companion' });
    model.queue('happy|Good to see you.');
    const prompt = await say('Hello, you.');
    expect(prompt).toContain(WREN);
    expect(prompt).toContain(PIPE);
    // Only the program that requested the format sees the marker; people see the model's text.
    const history = await createWebClient(parley ?? never()).history();
    expect(history.at(-1)).toContain('happy|Good to see you.');
  });

  it("[P14] keeps the session's persona when the settings change, but uses the new format", async () => {
    await restart({ profile: 'companion', persona: 'examiner', format: 'emotion_bracket' });
    const prompt = await say('Who are you now?');
    expect(prompt).toContain(WREN);
    expect(prompt).not.toContain(EXAMINER);
    expect(prompt).toContain(BRACKET);
    expect(prompt).not.toContain(PIPE);
  });

  it('[P14] uses the new persona after /new', async () => {
    await say('/new');
    const prompt = await say('And now?');
    expect(prompt).toContain(EXAMINER);
    expect(prompt).not.toContain(WREN);
  });

  it('[P14] prefers personas and formats in the workspace', async () => {
    const workspace = join(folder.path, 'workspace');
    for (const sub of ['personas', 'output-formats']) mkdirSync(join(workspace, sub));
    writeFileSync(join(workspace, 'personas/raven.md'), 'You are Raven.');
    writeFileSync(join(workspace, 'output-formats/plain.md'), 'Answer in rhyme.');
    await restart({ persona: 'raven', format: 'plain' });
    await say('/new');
    const prompt = await say('Raven?');
    expect(prompt).toContain('You are Raven.');
    expect(prompt).toContain('Answer in rhyme.');
  });

  it('[P15] applies the files, memory and final instructions of a profile in the data folder', async () => {
    const workspace = join(folder.path, 'workspace');
    writeFileSync(join(workspace, 'MEMORY.md'), 'Ann likes tea.');
    writeFileSync(join(workspace, 'AGENTS.md'), 'Work like a bee.');
    mkdirSync(join(folder.path, 'profiles'));
    const profile = 'memory: off\nephemeral: Answer in three words.\n';
    writeFileSync(join(folder.path, 'profiles/bare.yaml'), profile);
    await restart({});
    const usual = await say('As usual?');
    expect(usual).toContain('Ann likes tea.');
    expect(usual).toContain('Work like a bee.');
    await restart({ profile: 'bare' });
    const bare = await say('Barely?');
    expect(bare).toContain('Answer in three words.');
    expect(bare).toContain('Work like a bee.');
    expect(bare).not.toContain('Ann likes tea.');
    await restart({ profile: 'bare', memory: 'main-session' });
    expect(await say('Remember?')).toContain('Ann likes tea.');
    await restart({ profile: 'bare', layout: 'mushroom', skipContextFiles: true });
    const shortest = await say('In short?');
    expect(shortest).toContain('## Runtime Facts');
    expect(shortest).not.toContain('Work like a bee.');
  });

  it('[P15] [D12] does not start with an unknown profile, and lists the existing profiles', async () => {
    const other = makeDataFolder({ agent: { profile: 'compnion' }, model: 'offline' });
    const started = startParleyInProcess(other.path);
    await expect(started).rejects.toThrow('agent.profile has a value that does not fit');
    await expect(started).rejects.toThrow(/one of assistant, companion, lab, mushroom/);
    await expect(started).rejects.toThrow('did you mean: companion');
    other.remove();
  });

  it('[P14] starts with an unknown persona, and lists the existing personas', async () => {
    await restart({ persona: 'nobody' });
    expect(parley?.err()).toContain('the settings name a file that does not exist');
    expect(parley?.err()).toContain('wren');
  });
});

function never(): never {
  throw new Error('nothing runs');
}
