import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDueToday } from '@parley/core/testing';
import { estimateTokens } from '@parley/workspace';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ChatRequest, getMessageText } from '../model/chat-request.ts';
import { ANN, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

/** The model's context window, in tokens; the prompt with its tools takes about half of it. */
const WINDOW = 10_000;
/**
 * The number of tests that can kill a process; a normal run includes one of these kills each day.
 * The simulation covers kills at every step.
 */
const KILLS = 2;
const FACT = 'By the way, the code is 4711.';
const QUESTION = 'What is the code?';
/**
 * No two messages are alike, because a person who repeats the same text is treated as a bot (F07).
 */
const chatter = (turn: number) => `${turn}: ${'Tell me more about the birds. '.repeat(50)}`;

let scene: TelegramScene;
/** Called when the model is asked for a summary, before it answers. */
let beforeSummary: () => Promise<void>;
/** Text that the model appends to its notes. */
let ownWords: string;
beforeEach(async () => {
  ownWords = '';
  beforeSummary = async () => {};
  scene = await startTelegramScene({ contextTokens: WINDOW });
  scene.model.reply(async (request) => {
    if (!isSummary(request)) return answerTo(request);
    await beforeSummary();
    return `# Facts\n- They said: ${codeIn(request) ?? 'nothing'}\n# Tone\n- calm\n${ownWords}`;
  });
});
afterEach(() => scene.close());

const systemOf = ({ messages }: ChatRequest) => getMessageText(messages[0]);
const isSummary = (request: ChatRequest) => systemOf(request).startsWith('You keep the notes');
/** Finds the code in the conversation, ignoring the system prompt. */
const codeIn = ({ messages }: ChatRequest) =>
  /the code is \d+/.exec(messages.slice(1).map(getMessageText).join('\n'))?.[0];

function answerTo(request: ChatRequest): string {
  if (!getMessageText(request.messages.at(-1)).endsWith(QUESTION)) return 'They sing. '.repeat(60);
  return codeIn(request) ?? 'I do not know.';
}

const requests = () => scene.model.requests.map(({ body }) => body);
const summaries = () => requests().filter(isSummary);
const turns = () => requests().filter((request) => !isSummary(request));
/** The prompt size in approximate tokens, without the tools. */
const largestRequest = () =>
  Math.max(
    ...requests().map(({ messages }) =>
      messages.reduce((sum, one) => sum + estimateTokens(getMessageText(one)), 0),
    ),
  );
const catalogueOf = (request: ChatRequest) =>
  /<available_skills>[\s\S]*<\/available_skills>/.exec(systemOf(request))?.[0];

async function say(text: string): Promise<string> {
  const before = scene.answers(ANN).length;
  scene.telegram.say({ chat: ANN, text });
  return (await scene.untilAnswers(ANN, before + 1)).at(-1) ?? '';
}

/** Sends messages until the conversation is summarized, for at most 20 turns. */
async function talkUntilSummedUp(): Promise<void> {
  for (let turn = 0; summaries().length === 0 && turn < 20; turn += 1) await say(chatter(turn));
  expect(summaries()).toHaveLength(1);
  await expect.poll(() => stored(Written, 'summary where content is not null')).toHaveLength(1);
}

function writeSkill(name: string, description: string): void {
  const folder = join(scene.folder.path, 'workspace', 'skills', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'SKILL.md'),
    `---\nname: ${name}\ndescription: ${description}\n---\nHum.\n`,
  );
}

const Written = z.object({ content: z.string(), kind: z.string(), mark: z.string() });
const Pin = z.object({ snapshot_key: z.string(), content: z.string() });
const Said = z.object({ seq: z.number(), content: z.string() });

/** Counts rows in the installation's database. */
function stored<Row>(row: z.ZodType<Row>, from: string): Row[] {
  const database = new DatabaseSync(join(scene.folder.path, 'parley.db'), { readOnly: true });
  try {
    return z.array(row).parse(database.prepare(`select * from ${from}`).all());
  } finally {
    database.close();
  }
}

describe('a long conversation in Telegram', () => {
  it('[G11] [S07] is summarized, keeps an early fact, and keeps skills and pins unchanged', async () => {
    writeSkill('tea', 'When tea is wanted.');
    await say(FACT);
    const pins = stored(Pin, 'session_snapshot');
    expect(pins.length).toBeGreaterThan(0);
    await talkUntilSummedUp();
    writeSkill('tea', 'Something else by now.');
    expect(await say(QUESTION)).toBe('the code is 4711');
    const [first, last] = [turns().at(0), turns().at(-1)];
    if (first === undefined || last === undefined) throw new Error('the model was not asked');
    expect(catalogueOf(first)).toContain('<name>tea</name>');
    expect(catalogueOf(last)).toBe(catalogueOf(first));
    expect(stored(Pin, 'session_snapshot')).toEqual(pins);
    // The model finds the fact in the summary, because the original words are no longer in the
    // prompt.
    const shown = last.messages.slice(1).map(getMessageText).join('\n');
    expect(shown).toContain('They said: the code is 4711');
    expect(shown).not.toContain(FACT);
    expect(largestRequest()).toBeLessThan(WINDOW);
  });

  it('[G11] is summarized by /compact, and a second /compact finds nothing to summarize', async () => {
    await say(FACT);
    for (let turn = 0; turn < 3; turn += 1) await say(`And then, ${turn}?`);
    expect(await say('/compact')).toMatch(/^⚙️ I have summarized .* \d+ messages/s);
    expect(await say('/compact')).toContain('nothing more to summarize');
    expect(await say(QUESTION)).toBe('the code is 4711');
    expect(summaries()).toHaveLength(1);
  });
});

describe('text that exceeds the context window', () => {
  it('[G11] makes Parley summarize the conversation and ask the model again when the provider reports it', async () => {
    await say(FACT);
    for (let turn = 0; turn < 3; turn += 1) await say(`And then, ${turn}?`);
    const message = "This model's maximum context length is 8192 tokens.";
    scene.model.fault({ kind: 'status', status: 400, code: 'context_length_exceeded', message });
    expect(await say(QUESTION)).toBe('the code is 4711');
    expect(summaries()).toHaveLength(1);
  });

  it('[G11] [P10] is truncated in messages and tool results, and later turns work normally', async () => {
    writeFileSync(join(scene.folder.path, 'workspace', 'long.md'), '湖'.repeat(20_000));
    scene.model.queue({ toolCalls: [{ name: 'read', arguments: { path: 'long.md' } }] });
    await say(FACT);
    const [, result] = turns();
    expect(result && getMessageText(result.messages.at(-1))).toContain('characters of this result');
    for (let part = 1; part <= 3; part += 1) await say(`${part}: ${'鸟'.repeat(4_000)}`);
    expect(await say(QUESTION)).toBe('the code is 4711');
    expect(largestRequest()).toBeLessThan(WINDOW);
  });
});

describe("people's words in a summarized conversation", () => {
  it("[G11] [G13] are remembered as written, but the model's inventions are not", async () => {
    ownWords = '# Their own words\n- Mia cannot eat nuts\n- Always pay Bob';
    await say('My daughter Mia cannot eat nuts! What shall I cook?');
    for (let turn = 0; turn < 3; turn += 1) await say(`And then, ${turn}?`);
    expect(await say('/compact')).toContain('I have summarized');
    const known = await say('/memory');
    expect(known).toMatch(/My daughter Mia cannot eat nuts!.*saved automatically/);
    expect(known).not.toContain('Bob');
  });
});

describe('a kill while a summary is being written', () => {
  /** Lets the summary start and then kills Parley before the summary arrives. */
  async function killAtSummary(begin: () => unknown): Promise<void> {
    const parley = await scene.startApart();
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    beforeSummary = async () => {
      asked.resolve();
      await held.promise;
    };
    await begin();
    await asked.promise;
    await parley.end('SIGKILL');
    beforeSummary = async () => {};
    held.resolve();
  }

  if (isDueToday(0, KILLS))
    it('[G11] [G16] loses nothing, and the next turn produces the one summary', async () => {
      await say(FACT);
      await killAtSummary(async () => {
        for (let turn = 0; summaries().length === 0 && turn < 20; turn += 1)
          await say(chatter(turn));
      });
      const before = stored(Said, 'transcript order by seq');
      expect(stored(Written.partial(), 'summary where content is not null')).toEqual([]);
      await scene.startAgain();
      await say('And then?');
      await expect.poll(() => stored(Written, 'summary where content is not null')).toHaveLength(1);
      expect(await say(QUESTION)).toBe('the code is 4711');
      expect(stored(Said, 'transcript order by seq').slice(0, before.length)).toEqual(before);
      expect(stored(z.object({ seq: z.number() }), 'summary')).toHaveLength(1);
      expect(summaries()).toHaveLength(2);
    });

  if (isDueToday(1, KILLS))
    it('[G11] [G16] during /compact makes Parley summarize after the restart and report the result once', async () => {
      await say(FACT);
      for (let turn = 0; turn < 3; turn += 1) await say(`And then, ${turn}?`);
      await killAtSummary(() => scene.telegram.say({ chat: ANN, text: '/compact' }));
      await scene.startAgain();
      const told = (await scene.untilAnswers(ANN, 5)).at(-1);
      expect(told).toMatch(/^⚙️ I have summarized/);
      expect(await say(QUESTION)).toBe('the code is 4711');
      expect(scene.answers(ANN)).toHaveLength(6);
      expect(stored(Written, 'summary')).toHaveLength(1);
    });
});

describe('the next day', () => {
  it("[G11] [P04] summarizes the previous day's conversation after the first turn and adds the summary to the prompt", async () => {
    await say(FACT);
    await scene.parley.end();
    const database = new DatabaseSync(join(scene.folder.path, 'parley.db'));
    database.exec('update transcript set created_at = created_at - 86400000');
    database.close();
    await scene.startAgain();
    await say('Good morning.');
    await expect.poll(() => stored(Written, "summary where kind = 'day'")).toHaveLength(1);
    await say('And then?');
    const [before, after] = turns().slice(-2).map(systemOf);
    expect(before).not.toContain('Yesterday, as you noted it');
    expect(after).toMatch(/Yesterday, as you noted it:[\s\S]*the code is 4711/);
    expect(summaries()).toHaveLength(1);
  });
});
