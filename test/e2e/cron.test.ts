import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChatRequest, getMessageText } from '../model/chat-request.ts';
import { runCommand } from './parley-process.ts';
import { ANN, BO, GROUP, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

/**
 * The number of tests that can kill a process; a normal run includes one of these kills each day.
 * The simulation covers kills at every step.
 */
const KILLS = 2;

let scene: TelegramScene;
beforeEach(async () => {
  scene = await startTelegramScene();
  scene.model.reply(asksForJobs);
});
afterEach(() => scene.close());

const lastOf = ({ messages }: ChatRequest) => getMessageText(messages.at(-1));
/** The instruction in the prompt of a due job. */
const dueTask = (request: ChatRequest) =>
  /The time of the job[\s\S]*?\n> (.*)/.exec(lastOf(request))?.[1];

/** A model that passes the text after `job:` to the tool and reports the result. */
function asksForJobs(request: ChatRequest) {
  const task = dueTask(request);
  if (task === 'plan more') return call({ action: 'add', task: 'again', at: 'in 1 min' });
  if (task !== undefined) return `Now: ${task}`;
  if (request.messages.at(-1)?.role === 'tool') return `Result: ${lastOf(request)}`;
  const asked = /job: (\{.*\})/.exec(lastOf(request))?.[1];
  return asked === undefined ? 'hello' : call(JSON.parse(asked));
}

function call(input: object) {
  return { toolCalls: [{ name: 'cron', arguments: input }] };
}

const ask = (input: object) =>
  scene.telegram.say({ chat: ANN, text: `job: ${JSON.stringify(input)}` });
const saidBy = (words: string, chat = ANN) =>
  scene.answers(chat).filter((text) => text.includes(words));
const until = (words: string, chat = ANN) =>
  scene.telegram.waitFor(() => saidBy(words, chat).length > 0);
const cli = (...args: string[]) => runCommand(['--data', scene.folder.path, 'cron', ...args]);

describe('a reminder', () => {
  if (isDueToday(0, KILLS))
    it('[H08] arrives once in the chat where it was requested, even if Parley is killed before the job is due and again during the answer', async () => {
      const parley = await scene.startApart();
      const asked = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      scene.model.reply(async (request) => {
        if (dueTask(request) !== 'tea') return asksForJobs(request);
        asked.resolve();
        await held.promise;
        return 'Now: tea';
      });
      ask({ action: 'add', task: 'water the plants', at: 'in 3 s' });
      const [told] = await scene.untilAnswers(ANN, 1);
      expect(told).toMatch(/The job "water the plants" \(\w{5}\) is set: once, \w+day 20/);
      await parley.end('SIGKILL');
      const second = await scene.startApart();
      await until('Now: water the plants');
      ask({ action: 'add', task: 'tea', at: 'in 1 s' });
      await asked.promise;
      await second.end('SIGKILL');
      held.resolve();
      await scene.startAgain();
      await until('Now: tea');
      scene.telegram.say({ chat: ANN, text: 'anything else?' });
      await until('hello');
      expect(saidBy('Now:')).toEqual(['Now: water the plants', 'Now: tea']);
    });

  it('[H08] cannot create another job in its turn', async () => {
    ask({ action: 'add', task: 'plan more', at: 'in 1 s' });
    await until('Result: Not done: only what a person has just written');
    expect((await cli('list')).out).not.toContain('again');
  });
});

describe('a reminder requested by a weaker model', () => {
  const TASK = 'water the plants';
  const filled = `{"action":"Add","id":null,"title":"","task":"${TASK}","at":"in 2 h","every":"none","cron":null,"timeZone":"","format":"null"}`;
  const byText = JSON.stringify({
    name: 'cron',
    arguments: { action: 'add', task: TASK, at: 'in 2 h' },
  });

  it.each([
    ['who fills every field', { toolCalls: [{ name: 'cron', arguments: {}, written: filled }] }],
    [
      'who encodes twice, in a fence, for a tool of nearly that name',
      {
        toolCalls: [
          {
            name: 'functions.Cron',
            arguments: {},
            written: JSON.stringify(
              `\`\`\`json\n{"parameters": ${filled.replace(/}$/, ',}')}}\n\`\`\``,
            ),
          },
        ],
      },
    ],
    [
      'who writes the call as text behind its reasoning',
      {
        text: `<think>\nThey want water for plants.\n</think>\n<tool_call>\n${byText}\n</tool_call>`,
      },
    ],
  ])('[H08] [G20] is created from %s', async (_, reply) => {
    scene.model.reply((request) =>
      request.messages.at(-1)?.role === 'tool' ? `Result: ${lastOf(request)}` : reply,
    );
    scene.telegram.say({ chat: ANN, text: 'remind me to water the plants in two hours' });
    await until(`Result: The job "${TASK}"`);
    expect((await cli('list')).out).toContain(TASK);
    expect(scene.answers(ANN).join('\n')).not.toMatch(/think|tool_call/);
  });
});

describe('permission to have jobs', () => {
  it('[H08] is given to owners everywhere, and to others only by a setting', async () => {
    const input = JSON.stringify({ action: 'add', task: 'stand up', every: 'daily at 9:00' });
    scene.telegram.say({ chat: BO, text: `job: ${input}` });
    await until('Result: Only the owners of this agent may schedule jobs', BO);
    scene.telegram.say({ chat: GROUP, from: ANN, text: `job: ${input} @parley_test_bot` });
    await until('is set: cron 0 9 * * *', GROUP);
    scene.telegram.say({ chat: GROUP, from: BO, text: 'job: {"action":"list"} @parley_test_bot' });
    await until('Result: "stand up"', GROUP);
    scene.telegram.say({ chat: BO, text: 'job: {"action":"list"}' });
    await until('There are no jobs.', BO);
    ask({ action: 'list' });
    await until('Result: "stand up"');
  });
});

describe('parley cron', () => {
  it("[H08] makes the running gateway run a job in its owner's chat", async () => {
    scene.telegram.say({ chat: ANN, text: 'hi' });
    await until('hello');
    const added = await cli('add', 'call Bo', '--every', 'daily at 9:00', '--title', 'Bo');
    expect(added).toMatchObject({
      code: 0,
      out: expect.stringContaining('is set: cron 0 9 * * *'),
    });
    const id = /\((\w{5})\)/.exec(added.out)?.[1] ?? '';
    expect((await cli('run', id)).code).toBe(0);
    await until('Now: call Bo');
    // The gateway made the change itself, so it did not have to reload its schedule.
    expect(scene.parley.err()).toContain('a job was changed');
    expect((await cli()).out).toMatch(/^"Bo" \(\w{5}\): cron 0 9 .*; in telegram:501\n$/);
  });

  it('[H08] [P04] pauses and removes jobs, validates JSON answers, and explains errors', async () => {
    expect(await cli('add', 'x', '--at', '18:00')).toMatchObject({
      code: 1,
      out: expect.stringContaining('no owner has written'),
    });
    scene.telegram.say({ chat: ANN, text: 'hi' });
    await until('hello');
    expect((await cli('add', 'x', '--at', 'soon')).out).toContain('"soon" is not a time');
    const added = await cli('add', 'x', '--cron', '0 9 * * mon');
    const id = /\((\w{5})\)/.exec(added.out)?.[1] ?? '';
    const schema = join(scene.folder.path, 'orders.schema.json');
    writeFileSync(schema, '{ "type": "objekt" }');
    const format = (value: string) => cli('change', id, '--format', value);
    expect((await format(schema)).out).toContain('Unsupported type: objekt');
    expect(await format('gone.json')).toMatchObject({
      code: 1,
      err: expect.stringContaining('gone.json cannot be read'),
    });
    writeFileSync(schema, '{ "type": "object" }');
    expect((await format(schema)).out).toContain('answers in JSON');
    await cli('run', id);
    await until('does not fit the response format');
    expect((await cli('pause', id)).out).toContain('paused');
    expect((await cli('remove', id)).out).toContain('is removed');
    expect(await cli('remove', id)).toMatchObject({
      code: 1,
      out: expect.stringContaining('There is no job'),
    });
    expect((await cli('run', '../x')).out).toContain('There is no job "../x"');
  });
});

describe('a changed time zone', () => {
  it('[H08] asks the owner once about existing jobs, and the button keeps their local hour', async () => {
    const file = join(scene.folder.path, 'parley.yaml');
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    const inZone = (timeZone: string) =>
      writeFileSync(file, JSON.stringify({ ...settings, agent: { ...settings.agent, timeZone } }));
    await scene.parley.end();
    inZone('Europe/Berlin');
    // Parley is killed on days when no other test kills a process; otherwise it is shut down
    // gracefully.
    const parley = isDueToday(1, KILLS) ? await scene.startApart() : await scene.startAgain();
    ask({ action: 'add', title: 'plants', task: 'water the plants', every: '2 days at 9:00' });
    await until('every 2 days at 09:00 (Europe/Berlin)');
    inZone('America/New_York');
    await until('My time zone is now America/New_York; it was Europe/Berlin. One job');
    await parley.discard();
    await scene.startAgain();
    const question = scene.telegram
      .conversation(ANN)
      .find(({ text }) => text.includes('My time zone is now'));
    const messageId = question?.messageId ?? 0;
    scene.telegram.press({ chat: ANN, message: messageId, label: 'Move', from: ANN });
    await until('One job keeps its local time, now in America/New_York.');
    expect((await cli()).out).toMatch(/every 2 days at 09:00 \(America\/New_York\); next .* 09:00/);
    expect(saidBy('My time zone is now')).toHaveLength(1);
  });
});
