import { isDueToday, isFullRun } from '@parley/core/testing';
import { startTelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import {
  type CloseFunctions,
  NOTE,
  noted,
  record,
  type StartedParley,
  startInProcess,
  startSeparately,
  startWritingModel,
} from './approval-scene.ts';

const ANN = 501;
const BO = 502;
/** Approver in the settings, but not an owner. */
const CY = 503;
const GROUP = -5;
/** Longer than an approval request remains valid. */
const DAY_MS = 24 * 60 * 60_000;
/**
 * The number of tests that can kill a process; a normal run includes one of these kills each day.
 * The simulation covers kills at every step.
 */
const KILLS = 3;

const closing: CloseFunctions = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** `startIn` decides where Parley runs: in a separate process if the test kills it. */
async function onTelegram<Parley extends StartedParley>(
  startIn: (...given: Parameters<typeof startInProcess>) => Promise<Parley>,
  approvals: object = {},
) {
  const [telegram, model] = await Promise.all([startTelegramDouble(), startWritingModel(closing)]);
  closing.push(() => telegram.close());
  const settings = {
    owners: [`telegram:${ANN}`],
    approvals: { ask: ['write', 'current_time'], ...approvals },
    channels: {
      telegram: {
        token: telegram.token,
        apiRoot: telegram.apiRoot,
        pace: false,
        access: { direct: 'allowlist', allow: [BO], allowGroups: [GROUP] },
      },
    },
  };
  const parley = await startIn(model, settings, closing);
  const seen = (chat: number) => telegram.conversation(chat).filter(({ from }) => from === 'bot');
  const said = (chat: number) => seen(chat).map(({ text }) => text);
  const until = (chat: number, words: string) =>
    telegram.waitFor(() => said(chat).some((text) => text.includes(words)));
  const question = (chat: number) => seen(chat).find(({ text }) => text.includes('May I use'));
  const press = (chat: number, label: string, from: number) =>
    telegram.press({ chat, message: question(chat)?.messageId ?? 0, label, from });
  const code = (chat: number) => /\/approve (\w{6})/.exec(question(chat)?.text ?? '')?.[1];
  /** The text that Telegram showed only to the person who pressed the button. */
  const toast = async (query: string) => {
    await telegram.waitFor(() => telegram.pressAnswered(query));
    const calls = telegram.calls('answerCallbackQuery');
    return calls.find(({ params }) => params.callback_query_id === query)?.params.text;
  };
  return { telegram, model, parley, said, until, question, press, code, toast };
}

describe('approvals on Telegram', () => {
  if (isDueToday(0, KILLS))
    it('[G05] a button pressed twice after a kill -9 runs the call once', async () => {
      const { telegram, model, parley, said, until, question, press } =
        await onTelegram(startSeparately);
      telegram.say({ chat: ANN, text: 'please note it' });
      await until(ANN, 'May I use');
      expect(question(ANN)?.buttons).toEqual(['Approve', 'Deny']);
      telegram.say({ chat: ANN, text: '/why' });
      await until(ANN, 'its turn waits until my owner approves write');
      await parley.restart(() => {
        // No process receives the press, so it waits at Telegram.
        press(ANN, 'Approve', ANN);
        press(ANN, 'Approve', ANN);
        telegram.say({ chat: ANN, text: 'and something else' });
      });
      await until(ANN, 'You said: and something else');
      await telegram.waitFor(() => question(ANN)?.buttons === undefined);
      expect(noted(parley)).toBe(NOTE);
      const results = model.requests.filter(({ body }) => body.messages.at(-1)?.role === 'tool');
      expect(results).toHaveLength(1);
      expect(said(ANN).filter((text) => text.includes('Allowed: write'))).toHaveLength(1);
      expect(said(ANN).filter((text) => text.includes('already decided'))).toHaveLength(1);
      expect(await record(parley)).toMatch(
        /write for telegram:501 \(telegram direct 501\): allowed by telegram:501 .*; the call worked/,
      );
    });

  if (isDueToday(1, KILLS))
    it('[G05] [G16] kills right after the press and before the answer still lead to one run and one answer', async () => {
      const { telegram, model, parley, said, until, press } = await onTelegram(startSeparately);
      telegram.say({ chat: ANN, text: 'please note it' });
      await until(ANN, 'May I use');
      const query = press(ANN, 'Approve', ANN);
      await telegram.waitFor(() => telegram.pressAnswered(query));
      const told = () =>
        model.requests.filter(({ body }) => body.messages.at(-1)?.role === 'tool').length;
      model.latencyMs = 60_000;
      await parley.restartApart();
      // The tool has run and the model has received the result, but nobody sees its answer.
      await expect.poll(told).toBeGreaterThan(0);
      expect(noted(parley)).toBe(NOTE);
      model.latencyMs = 0;
      await parley.restart();
      await until(ANN, 'It said: ');
      telegram.say({ chat: ANN, text: 'and now' });
      await until(ANN, 'You said: and now');
      expect(said(ANN).filter((text) => text.includes('It said: '))).toHaveLength(1);
      expect(said(ANN).filter((text) => text.includes('May I use'))).toHaveLength(1);
      expect((await record(parley)).match(/\bwrite for\b/g)).toHaveLength(1);
    });

  if (isDueToday(2, KILLS))
    it('[G05] [D04] a request that was being sent during a kill can still be listed and decided', async () => {
      const { telegram, parley, said, until } = await onTelegram(startSeparately);
      telegram.fault({ kind: 'hang', method: 'sendMessage', chat: ANN });
      telegram.say({ chat: ANN, text: 'please note it' });
      await telegram.waitFor(() => telegram.calls('sendMessage').length > 0);
      await parley.restart();
      telegram.say({ chat: ANN, text: '/approve' });
      await until(ANN, 'Waiting for a decision');
      const [, code] = /\/approve (\w{6})/.exec(said(ANN).join()) ?? [];
      telegram.say({ chat: ANN, text: `/approve ${code}` });
      await until(ANN, 'It said: ');
      expect(noted(parley)).toBe(NOTE);
    });

  it('[G05] in a group, other people cannot decide by button or code, and the buttons remain', async () => {
    const { telegram, parley, said, until, question, press, code, toast } =
      await onTelegram(startInProcess);
    telegram.say({ chat: GROUP, from: BO, text: `@${telegram.me.username} what time is it` });
    await until(GROUP, 'Only my owner');
    const refusal = '/approve is for my owner, and for those my owner has named.';
    expect(await toast(press(GROUP, 'Approve', BO))).toBe(refusal);
    telegram.say({ chat: GROUP, from: BO, text: `/approve ${code(GROUP)}` });
    await telegram.waitFor(() => said(GROUP).filter((text) => text === refusal).length === 2);
    expect(question(GROUP)?.buttons).toEqual(['Approve', 'Deny']);
    expect(said(GROUP).join()).not.toContain('It said:');
    expect(await toast(press(GROUP, 'Deny', ANN))).toBeUndefined();
    await until(GROUP, 'It said: current_time was not run');
    await telegram.waitFor(() => question(GROUP)?.buttons === undefined);
    expect(await record(parley)).toMatch(
      /current_time for telegram:502 \(telegram group -5\): refused by telegram:501/,
    );
  });

  it('[G05] an approver named in the settings can decide, but does not get any other owner rights', async () => {
    const { telegram, parley, said, until, press, code } = await onTelegram(startInProcess, {
      approvers: [`telegram:${CY}`],
    });
    telegram.say({ chat: GROUP, from: BO, text: `@${telegram.me.username} what time is it` });
    await until(GROUP, 'Only my owner');
    // Approvers do not have access of their own, so messages in a direct chat are ignored.
    telegram.say({ chat: CY, text: `/approve ${code(GROUP)}` });
    for (const command of ['/why', '/pair ABCDEFGH', '/model']) {
      telegram.say({ chat: GROUP, from: CY, text: command });
      await until(GROUP, `${command.split(' ')[0]} is for my owner only.`);
    }
    expect(said(GROUP).join()).not.toContain('It said:');
    expect(said(CY).join()).not.toContain('Allowed');
    press(GROUP, 'Approve', CY);
    await until(GROUP, 'It said: It is');
    expect(await record(parley)).toMatch(
      /current_time for telegram:502 .*: allowed by telegram:503 .*; the call worked/,
    );
  });

  it('[G04] [G05] a plan survives a restart and runs once, and the button of an older plan has no effect', async () => {
    // A kill between request and decision is tested above; a full run also kills Parley here.
    const startIn: typeof startInProcess = isFullRun() ? startSeparately : startInProcess;
    const { telegram, model, parley, said, until } = await onTelegram(startIn);
    const plan = (words: string) =>
      telegram.conversation(ANN).find(({ from, text }) => from === 'bot' && text.endsWith(words));
    const press = (words: string) =>
      telegram.press({
        ...{ chat: ANN, from: ANN, label: 'Run the plan' },
        message: plan(words)?.messageId ?? 0,
      });
    telegram.say({ chat: ANN, text: '/mode plan' });
    await until(ANN, 'plan mode: I look');
    for (const idea of ['first idea', 'second idea']) {
      telegram.say({ chat: ANN, text: idea });
      await until(ANN, `You said: ${idea}`);
    }
    telegram.say({ chat: ANN, text: '/mode agent' });
    await until(ANN, 'agent mode: I use');
    await parley.restart(() => {
      press('first idea');
      press('second idea');
      press('second idea');
    });
    await until(ANN, 'You said: Yes, run the plan.');
    await telegram.waitFor(() => said(ANN).includes('That plan has been run.'));
    const over =
      'That plan can no longer be run: it has been run already, or something newer was said.';
    expect(said(ANN).filter((text) => text === over)).toHaveLength(1);
    await telegram.waitFor(() => plan('second idea')?.buttons === undefined);
    expect(plan('first idea')?.buttons).toBeUndefined();
    telegram.say({ chat: ANN, text: 'and now' });
    await until(ANN, 'You said: and now');
    const runs = model.requests.filter(({ body }) =>
      getMessageText(body.messages.at(-1)).endsWith('Yes, run the plan.'),
    );
    expect(runs).toHaveLength(1);
  });

  it('[G05] a button that expired while Parley was stopped has no effect, and disappears', async () => {
    const { telegram, parley, until, question, press } = await onTelegram(startInProcess);
    telegram.say({ chat: ANN, text: 'please note it' });
    await until(ANN, 'May I use');
    await parley.restart(() => {}, { clock: () => Date.now() + DAY_MS });
    await until(ANN, 'which counts as a refusal');
    press(ANN, 'Approve', ANN);
    await until(ANN, 'Too late');
    await telegram.waitFor(() => question(ANN)?.buttons === undefined);
    expect(noted(parley)).toBeNull();
    expect(await record(parley)).toContain('not answered');
  });
});
