import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { findFreePort } from '../services/free-port.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder } from './parley-process.ts';
import { createWebClient } from './web-client.ts';

const FIRST = 'Your first conversation';

let model: ModelDouble;
let folder: DataFolder;
let parley: TestParley;
const cleanUp: (() => unknown)[] = [];
beforeEach(async () => {
  model = await startModelDouble();
  cleanUp.push(() => model.close());
});
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

async function start(settings: object = {}): Promise<void> {
  folder = makeDataFolder({
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 20 },
    http: { port: await findFreePort() },
    ...settings,
  });
  cleanUp.push(() => folder.remove());
  parley = await startParleyInProcess(folder.path);
  cleanUp.push(() => parley.discard());
}

async function restart(): Promise<void> {
  await parley.end();
  parley = await startParleyInProcess(folder.path);
}

const inWorkspace = (name: string) => join(folder.path, 'workspace', name);

/** Sends a message, waits for the answer, and returns the request to the model. */
async function say(text: string): Promise<string> {
  const before = model.total;
  await createWebClient(parley).post(text);
  await expect.poll(() => model.total).toBeGreaterThan(before);
  await expect
    .poll(async () => (await createWebClient(parley).history()).at(-1))
    .not.toBe(`> ${text}`);
  return asked();
}

/** The last request to the model as one string. */
function asked(): string {
  return JSON.stringify(model.requests.at(-1)?.body.messages);
}

describe('a new workspace', () => {
  it('[W08] is introduced by BOOTSTRAP.md, even across a restart, until the owner says /new', async () => {
    await start();
    expect(await say('hello')).toContain(FIRST);
    await restart();
    expect(await say('still there?')).toContain(FIRST);
    await createWebClient(parley).post('/new');
    expect(await say('and now')).not.toContain(FIRST);
    expect(readdirSync(inWorkspace('archive'))).toEqual(['BOOTSTRAP.md']);
    await restart();
    expect(await say('and after a restart')).not.toContain(FIRST);
    expect(readdirSync(inWorkspace(''))).not.toContain('BOOTSTRAP.md');
  });

  it("[W05] takes the name from the settings for all agents, then from the agent's own settings, then from IDENTITY.md", async () => {
    await start({ identity: { name: 'Global' }, agent: { name: 'Ownname', role: 'keeper' } });
    writeFileSync(inWorkspace('IDENTITY.md'), '- **Name:** File\n- **Role:** x\n- **Emoji:** 🌿');
    await restart();
    expect(parley.out()).toContain('Global');
    const text = await say('hello');
    expect(text).toContain('Global');
    expect(text).toContain('keeper');
    expect(text).not.toContain('Ownname');
    expect(text).not.toContain('**Name:** File');
  });
});

describe('BOOT.md', () => {
  const BOOT = 'Tell your owner how many apples are left.';

  it("[W08] happens once per start in the owner's last chat, and nobody sees the request", async () => {
    await start();
    await say('hello');
    writeFileSync(inWorkspace('BOOT.md'), BOOT);
    model.reply(() => 'There are three apples.');
    await restart();
    const shown = () => createWebClient(parley).history();
    await expect.poll(async () => (await shown()).join()).toContain('apples');
    expect(asked()).toContain(BOOT);
    expect(asked().match(/Parley has just been started/g)).toHaveLength(1);
    expect(await shown()).toHaveLength(3);
    expect((await shown()).filter((line) => line.startsWith('> '))).toEqual(['> hello']);
    expect(await say('thanks')).not.toContain(BOOT);
    expect(model.total).toBe(3);
    await restart();
    await expect.poll(() => model.total).toBe(4);
    await expect.poll(async () => (await shown()).length).toBe(6);
    await say('thanks again');
    expect(model.total).toBe(5);
  });

  it('[W08] [G09] does not send a message when there is nothing to report', async () => {
    await start();
    await say('hello');
    writeFileSync(inWorkspace('BOOT.md'), BOOT);
    model.reply(() => 'NO_REPLY');
    await restart();
    await expect.poll(() => model.total).toBe(2);
    model.reply(() => 'Here I am.');
    await say('and now?');
    const shown = await createWebClient(parley).history();
    expect(shown).toHaveLength(4);
    expect(shown.join()).not.toContain('NO_REPLY');
  });

  it('[W08] does nothing while the file is empty, and before anyone has written', async () => {
    await start();
    expect(readFileSync(inWorkspace('BOOT.md'), 'utf8')).toMatch(/^<!--/);
    await say('hello');
    await restart();
    await say('again');
    expect(model.total).toBe(2);
  });
});

describe('an OpenClaw workspace', () => {
  it('[W01] works in place and is not modified', async () => {
    const place = makeDataFolder({}).path;
    const files = {
      'AGENTS.md': '# AGENTS.md\n\nRead SOUL.md first. Canary-agents.',
      'SOUL.md': '---\nsummary: "soul"\nread_when:\n  - always\n---\n\n_You are a lobster._',
      'IDENTITY.md':
        '# IDENTITY.md\n\n- **Name:** Clawdia\n- **Creature:** lobster\n- **Emoji:**\n  🦞\n',
      'USER.md': '- **Name:** Ann',
      'TOOLS.md': '# TOOLS.md\n\n- camera: kitchen',
      'HEARTBEAT.md': '# Keep this file empty to skip heartbeats.\n',
      'BOOTSTRAP.md': '# BOOTSTRAP.md\n\nCanary-bootstrap.',
      'MEMORY.md': 'Canary-memory.',
    };
    mkdirSync(join(place, 'memory'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
    const before = readdirSync(place).sort();
    await start({ agent: { workspace: place } });
    await restart();
    expect(parley.out()).toContain('Clawdia');
    const text = await say('hello');
    for (const canary of ['Canary-agents', 'lobster', 'Canary-memory', 'kitchen']) {
      expect(text).toContain(canary);
    }
    expect(text).not.toContain('Canary-bootstrap');
    expect(readdirSync(place).sort()).toEqual(before);
    for (const [name, was] of Object.entries(files)) {
      expect(readFileSync(join(place, name), 'utf8')).toBe(was);
    }
  });
});
