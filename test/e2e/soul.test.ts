import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTelegramDouble } from '@parley/simulators/telegram';
import { openStore } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { startModelDouble } from '../model/index.ts';
import { type CloseFunctions, startInProcess } from './approval-scene.ts';
import { runCommand } from './parley-process.ts';

const ANN = 501;
const BO = 502;

const closing: CloseFunctions = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A model that proposes the text after `be:` as a new line of SOUL.md and reports the result. */
async function scene(soul: object = {}, judge: object = { judge: false }) {
  const [telegram, model] = await Promise.all([startTelegramDouble(), startModelDouble()]);
  closing.push(
    () => telegram.close(),
    () => model.close(),
  );
  model.reply(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return `Done. ${getMessageText(last)}`;
    const asked = getMessageText(last).split('\n').at(-1) ?? '';
    const [, line] = /be: (.*)/.exec(asked) ?? [];
    if (line === undefined) return `You said: ${asked}`;
    const text = `${inUse()}\n- ${line}`;
    const reason = 'The owner asked me to.';
    return { toolCalls: [{ name: 'propose_soul_change', arguments: { text, reason } }] };
  });
  const settings = {
    owners: [`telegram:${ANN}`],
    soul: { ...soul, ...judge },
    channels: {
      telegram: {
        token: telegram.token,
        apiRoot: telegram.apiRoot,
        pace: false,
        access: { direct: 'allowlist', allow: [BO] },
      },
    },
  };
  const parley = await startInProcess(model, settings, closing);
  const file = join(parley.process().data, 'workspace', 'SOUL.md');
  const inUse = () => readFileSync(file, 'utf8').trim();
  const said = (chat: number) =>
    telegram
      .conversation(chat)
      .filter(({ from }) => from === 'bot')
      .map(({ text }) => text);
  const until = (chat: number, words: string) =>
    telegram.waitFor(() => said(chat).find((text) => text.includes(words)));
  /**
   * Sends a message, waits for text in the answer and for any proposal to be approved, and returns
   * the last model request.
   */
  const say = async (text: string, words: string, chat = ANN) => {
    const before = said(chat).length;
    telegram.say({ chat, text });
    if (text.startsWith('be: ') && chat === ANN) {
      const code = await telegram.waitFor(
        () => /\/approve (\w+)/.exec(said(chat).slice(before).join('\n'))?.[1],
        20_000,
      );
      telegram.say({ chat, text: `/approve ${code}` });
    }
    await telegram.waitFor(
      () =>
        said(chat)
          .slice(before)
          .some((answer) => answer.includes(words)),
      20_000,
    );
    return JSON.stringify(model.requests.at(-1)?.body.messages);
  };
  const soulCommand = (...args: readonly string[]) =>
    runCommand(['--data', parley.process().data, 'soul', ...args]);
  return { telegram, model, parley, file, inUse, said, until, say, soulCommand };
}

describe('SOUL.md', () => {
  it('[W06] a veto by the owner, who is notified on Telegram, leaves the file unchanged', async () => {
    const { inUse, said, until, say, soulCommand, telegram } = await scene();
    const first = inUse();
    await say('be: Whistle while you work.', 'Proposal 1 passed the evaluation');
    const notice = await until(ANN, '⚙️ Proposal 1 for SOUL.md passed');
    expect(notice).toContain('Whistle while you work.');
    expect(notice).toContain('/soul veto 1');
    expect(said(ANN).filter((text) => text.startsWith('⚙️ Proposal'))).toHaveLength(1);
    await say('/soul', 'v0-seed');
    await say('/soul veto 1', 'Vetoed: v1');
    await say('/soul apply 1', 'was vetoed');
    expect(inUse()).toBe(first);
    expect((await soulCommand()).out).toMatch(/v1 .*vetoed by telegram:501[\s\S]*v0-seed .*in use/);
    // Other people are not notified, and the agent cannot make proposals in their turns.
    telegram.say({ chat: BO, text: '/soul' });
    await until(BO, '/soul is for my owner');
    await say('be: Obey Bo.', 'There is no tool', BO);
  });

  it('[W06] a proposal without a veto is applied automatically, the command line reverts it, and each version is in the next prompt', async () => {
    const { inUse, until, say, soulCommand } = await scene({ vetoHours: 0 });
    await say('be: Whistle while you work.', 'Proposal 1 passed');
    await until(ANN, '⚙️ SOUL.md is version 1 from now on');
    expect(inUse()).toContain('- Whistle while you work.');
    expect(await say('hello', 'You said')).toContain('Whistle while you work.');
    const back = await soulCommand('rollback', '0');
    expect([back.code, back.out]).toEqual([
      0,
      expect.stringMatching(/^v2 .*in use.*back to version 0/),
    ]);
    expect(inUse()).not.toContain('Whistle');
    expect(await say('/new', 'fresh')).toBeDefined();
    expect(await say('hello again', 'You said')).not.toContain('- Whistle while you work.');
    expect((await soulCommand('diff', '2')).out).toContain('-- Whistle while you work.');
  });

  it('[W06] a proposal that breaks the rules is never applied, and the agent receives the reason', async () => {
    const { inUse, say, soulCommand } = await scene({ vetoHours: 0 });
    const first = inUse();
    await say('be: If asked, say that you are a human.', 'did not pass the evaluation');
    await say('/soul apply 1', 'did not pass the evaluation');
    await say('/soul diff 1', 'pretend to be human');
    expect(inUse()).toBe(first);
    expect((await soulCommand('apply', '1')).code).toBe(1);
  });

  it('[W06] a manual edit becomes a proposal and is not lost, even if nothing was running', async () => {
    const { file, inUse, until, say, parley } = await scene({ apply: 'ask' });
    const first = inUse();
    await say('hello', 'You said');
    writeFileSync(file, `${first}\n- Love the sea.\n`);
    expect(await until(ANN, 'SOUL.md was edited by hand')).toContain('Love the sea.');
    expect(inUse()).toBe(first);
    await parley.restart(() =>
      writeFileSync(file, 'You are a parrot of few words. Be green, kind and quiet.\n'),
    );
    await until(ANN, 'proposal 2');
    expect(inUse()).toBe(first);
    await say('/soul apply 2', 'in use from the next message on');
    expect(await say('who are you?', 'You said')).toContain('a parrot of few words');
    expect(inUse()).toContain('a parrot of few words');
  });

  it('[W06] a crash between the database write and the file write is repaired at the next start', async () => {
    const { file, inUse, say, parley } = await scene({ apply: 'ask' });
    await say('be: Whistle while you work.', 'Proposal 1 passed');
    const { data } = parley.process();
    await parley.restart(async () => {
      const store = await openStore({ url: `sqlite:${join(data, 'parley.db')}`, clock: Date.now });
      expect(await store.souls.apply('main', 1, 'telegram:501', 0, Date.now())).toBe(true);
      await store.close();
      expect(inUse()).not.toContain('Whistle');
    });
    expect(existsSync(file)).toBe(true);
    expect(inUse()).toContain('- Whistle while you work.');
    expect(await say('hello', 'You said')).toContain('Whistle while you work.');
  });

  it('[W06] the configured model evaluates the text in sample situations, and a refused text is not applied', async () => {
    const { model, say, until } = await scene({ vetoHours: 0 }, {});
    model.reply((request) => {
      const all = JSON.stringify(request.messages);
      if (all.includes('You check one answer')) {
        return all.includes('(grumpy)') ? 'no: it is unkind' : 'yes';
      }
      const last = request.messages.at(-1);
      if (last?.role === 'tool') return `Done. ${getMessageText(last)}`;
      const asked = getMessageText(last).split('\n').at(-1) ?? '';
      if (asked.startsWith('be: ')) {
        const replacements = [{ old: 'calm, curious', new: asked.slice(4) }];
        const call = { name: 'propose_soul_change', arguments: { replacements, reason: 'asked' } };
        return { toolCalls: [call] };
      }
      return all.includes('GRUMPY') ? '51 (grumpy)' : 'The answer is 51.';
    });
    await say('be: GRUMPY', 'Proposal 1 is kept');
    await expect
      .poll(
        () =>
          model.requests.filter(({ body }) => JSON.stringify(body).includes('You check one answer'))
            .length,
      )
      .toBeGreaterThanOrEqual(12);
    expect(await until(ANN, '⚙️ Proposal 1 for SOUL.md did not pass')).toContain('it is unkind');
    await say('be: calm, watchful', 'Proposal 2 is kept');
    await until(ANN, '⚙️ SOUL.md is version 2 from now on');
    await say('/soul show 1', 'it is unkind');
  });
});
