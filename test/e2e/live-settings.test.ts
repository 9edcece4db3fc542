import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFullRun } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findFreePort } from '../services/free-port.ts';
import { fetchChannelStates } from './channel-states.ts';
import { runCommand, writeSettings } from './parley-process.ts';
import { ANN, BO, STRANGER, startTelegramScene, type TelegramScene } from './telegram-scene.ts';
import { createWebClient } from './web-client.ts';

const Settings = z.looseObject({
  model: z.looseObject({}),
  channels: z.looseObject({ telegram: z.looseObject({ access: z.looseObject({}) }) }),
});
type Settings = z.infer<typeof Settings>;

let scene: TelegramScene;
let settings: Settings;
beforeAll(async () => {
  scene = await startTelegramScene();
  const text = readFileSync(join(scene.folder.path, 'parley.yaml'), 'utf8');
  settings = Settings.parse(JSON.parse(text));
});
afterAll(() => scene?.close());

const taken = () => scene.parley.err().split('settings were read again').length;

/** Saves changed settings and waits until the process applies them. */
async function change(next: object): Promise<void> {
  const before = taken();
  writeSettings(scene.folder.path, next);
  await expect.poll(taken, { timeout: 30_000 }).toBe(before + 1);
}

const connections = () => scene.parley.err().split('"msg":"channel connected"').length - 1;
const modelsAsked = () => scene.model.requests.map(({ body }) => body.model);
const telegramState = async () =>
  (await fetchChannelStates(scene.parley)).find(({ channel }) => channel === 'telegram')?.kind;

describe('settings that change while Parley runs', () => {
  it('[D12] apply from the next turn, while a running turn keeps its settings', async () => {
    const story = scene.hold('a story');
    scene.telegram.say({ chat: ANN, text: 'a story' });
    await story.asked;
    const connected = connections();
    settings = { ...settings, model: { ...settings.model, model: 'second' } };
    await change(settings);
    scene.telegram.say({ chat: BO, text: 'hello' });
    expect(await scene.untilAnswers(BO, 1)).toEqual(['You said: hello']);
    scene.telegram.say({ chat: ANN, text: 'and then?' });
    story.release();
    expect(await scene.untilAnswers(ANN, 2)).toEqual(['You said: a story', 'You said: and then?']);
    expect(modelsAsked()).toEqual(['double', 'second', 'second']);
    expect(connections()).toBe(connected);
  });

  it('[D12] [F05] admit a person without reconnecting', async () => {
    const { telegram } = settings.channels;
    const access = { ...telegram.access, allow: [BO, STRANGER] };
    settings = { ...settings, channels: { telegram: { ...telegram, access } } };
    const connected = connections();
    await change(settings);
    scene.telegram.say({ chat: STRANGER, text: 'good morning' });
    expect(await scene.untilAnswers(STRANGER, 1)).toEqual(['You said: good morning']);
    expect(connections()).toBe(connected);
  });

  it('[F09] [D12] add models to /model, and the choice applies to this conversation even after a restart', async () => {
    // A full run kills Parley.
    const parley = isFullRun() ? await scene.startApart() : scene.parley;
    const choices = ['third'];
    settings = { ...settings, model: { ...settings.model, choices } };
    await change(settings);
    const answered = scene.answers(ANN).length;
    scene.telegram.say({ chat: ANN, text: '/model third' });
    expect((await scene.untilAnswers(ANN, answered + 1)).at(-1)).toContain('third answers');
    await parley.discard();
    await scene.startAgain();
    scene.telegram.say({ chat: ANN, text: 'who are you?' });
    await scene.untilAnswers(ANN, answered + 2);
    expect(modelsAsked().at(-1)).toBe('third');
    const others = scene.answers(BO).length;
    scene.telegram.say({ chat: BO, text: 'and for me?' });
    await scene.untilAnswers(BO, others + 1);
    expect(modelsAsked().at(-1)).toBe('second');
    scene.telegram.say({ chat: ANN, text: '/model default' });
    await scene.untilAnswers(ANN, answered + 3);
    scene.telegram.say({ chat: ANN, text: 'and now?' });
    await scene.untilAnswers(ANN, answered + 4);
    expect(modelsAsked().at(-1)).toBe('second');
  });

  it('[D12] close and reopen a channel, and messages written in the meantime are answered', async () => {
    await change({ ...settings, channels: {} });
    expect(await telegramState()).toBeUndefined();
    scene.telegram.say({ chat: BO, text: 'are you there?' });
    await change(settings);
    await expect.poll(telegramState).toBe('connected');
    expect((await scene.untilAnswers(BO, 3)).at(-1)).toBe('You said: are you there?');
  });

  it('[F14] [D12] add an agent and a route, and the agent answers there with its own folder and history', async () => {
    const desk = join(scene.folder.path, 'workspaces', 'desk');
    mkdirSync(desk, { recursive: true });
    writeFileSync(join(desk, 'AGENTS.md'), 'You are at the desk.\n');
    writeFileSync(join(desk, 'MEMORY.md'), 'The key is below the mat.\n');
    const asked = async (chat: number, text: string) => {
      const answered = scene.answers(chat).length;
      scene.telegram.say({ chat, text });
      await scene.untilAnswers(chat, answered + 1);
      return JSON.stringify(scene.model.requests.at(-1)?.body.messages);
    };
    const routes = [{ agent: 'desk', chat: `telegram:${BO}` }];
    await change({ ...settings, agents: { desk: { owners: [`telegram:${BO}`] } }, routes });
    const there = await asked(BO, 'who is at the desk?');
    expect(there).toContain('You are at the desk.');
    // Bo owns the new agent, and Ann does not.
    expect(there).toContain('below the mat');
    expect(there).not.toContain('are you there?');
    const why = await runCommand(['--data', scene.folder.path, 'why', 'last']);
    expect(why.out).toContain('answered by desk (the rule for this chat)');
    const own = await createWebClient(scene.parley).get('/api/files/list?agent=desk');
    expect(own.body).toContain('AGENTS.md');
    const parley = async (...args: string[]) =>
      (await runCommand(['--data', scene.folder.path, ...args])).out;
    expect(await parley('prompt', '--last')).toContain('answered by desk (the rule for this chat)');
    expect(await parley('agents')).toContain(`answers    chat telegram:${BO}`);
    expect(await parley('heartbeat', '--agent', 'desk')).toContain('There are no tasks');
    expect(await parley('status')).toContain(`agent     desk`);
    const elsewhere = await asked(ANN, 'and who is here?');
    expect(elsewhere).not.toMatch(/at the desk|below the mat/);
    await change(settings);
    const again = await asked(BO, 'who is here now?');
    expect(again).toContain('are you there?');
    expect(again).not.toMatch(/at the desk|below the mat/);
  });

  it('[D12] do not affect the running gateway when they are invalid, and the gateway reports the reason', async () => {
    const web = createWebClient(scene.parley);
    writeSettings(scene.folder.path, { ...settings, modle: 'x', limits: { turnSteps: 'many' } });
    const report = async () => (await web.get('/api/status/report')).body;
    await expect.poll(report, { timeout: 30_000 }).toContain('limits.turnSteps has a value');
    scene.telegram.say({ chat: BO, text: 'still there?' });
    expect((await scene.untilAnswers(BO, 6)).at(-1)).toBe('You said: still there?');
  });

  it('[D12] are listed when they only apply at startup, and take effect after a restart', async () => {
    await change(settings);
    await scene.startApart();
    const port = await findFreePort();
    await change({ ...settings, http: { port } });
    const { address, token } = scene.parley;
    const headers = { authorization: `Bearer ${token}` };
    const status = await fetch(`${address}/api/status/report`, { headers });
    expect(await status.json()).toMatchObject({
      settings: { afterRestart: ['http.port'], problems: [] },
    });
    const restart = { method: 'POST', body: '{}' };
    const path = `${address}/api/gateway/restart`;
    expect((await fetch(path, restart)).status).toBe(401);
    expect((await fetch(path, { ...restart, headers })).status).toBe(200);
    const moved = { address: address.replace(/\d+$/, String(port)), token };
    await expect
      .poll(() => fetchChannelStates(moved).catch(() => []), { timeout: 30_000 })
      .toContainEqual(expect.objectContaining({ channel: 'telegram', kind: 'connected' }));
    scene.telegram.say({ chat: BO, text: 'and now?' });
    expect((await scene.untilAnswers(BO, 7)).at(-1)).toBe('You said: and now?');
  });
});
