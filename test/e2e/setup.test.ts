import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { findFreePort } from '../services/free-port.ts';
import { startParleyInProcess } from './parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand } from './parley-process.ts';
import { KEYS, openPseudoTerminal, type PseudoTerminal } from './pseudo-terminal.ts';

const ANN = 501;
const KEY = 'k3y-of-the-double';

const script = inject('scriptPath');

describe('parley setup', () => {
  let model: ModelDouble;
  let telegram: TelegramDouble;
  let folder: DataFolder;
  let before: string;
  const file = () => join(folder.path, 'parley.yaml');
  const written = () => readFileSync(file(), 'utf8');
  beforeAll(async () => {
    [model, telegram] = await Promise.all([startModelDouble(), startTelegramDouble()]);
    model.reply(() => 'Hello Ann.');
    folder = makeDataFolder({});
    before = `# mine
http: { port: ${await findFreePort()} }
lanes: { collectPauseMs: 50 }
model: offline
channels:
  telegram: { apiRoot: "${telegram.apiRoot}", pace: false }
`;
    writeFileSync(file(), before);
  });
  afterAll(async () => {
    await Promise.all([model?.close(), telegram?.close()]);
    folder?.remove();
  });

  function open(): PseudoTerminal {
    const terminal = openPseudoTerminal(['--data', folder.path, 'setup']);
    onTestFinished(() => terminal.end());
    return terminal;
  }

  /** Answers all questions up to the confirmation before the file is written. */
  async function answerAll(terminal: PseudoTerminal): Promise<void> {
    await terminal.sees('Which model should the agent use?');
    await terminal.sees('Keep it as it is');
    terminal.type(KEYS.up + KEYS.up + KEYS.enter);
    await terminal.sees('Its address');
    terminal.type(model.baseUrl + KEYS.enter);
    await terminal.sees('Its API key');
    terminal.type(KEY + KEYS.enter);
    await terminal.sees('Which of its models?');
    terminal.type(KEYS.enter);
    await terminal.sees('answered in');
    await terminal.sees('Where will people write to the agent?');
    terminal.type(KEYS.down + KEYS.enter);
    await terminal.sees('Its token');
    terminal.type(`123:wrong${KEYS.enter}`);
    await terminal.sees('refuses the bot token');
    await terminal.sees('Where will people write to the agent?');
    terminal.type(KEYS.down + KEYS.enter);
    await terminal.sees('Its token');
    terminal.type(telegram.token + KEYS.enter);
    await terminal.sees('It is @parley_test_bot.');
    await terminal.sees('Write this into');
  }

  it('[U02] explains what to do when it cannot ask questions', async () => {
    const { code, err } = await runCommand(['--data', folder.path, 'setup']);
    expect(code).toBe(1);
    expect(err).toContain('has to run in a terminal');
    expect(err).toContain('token show');
    expect(err).toContain(file());
  });

  it.runIf(script)(
    '[U02] leaves the file unchanged on Ctrl-C, even after all checks have passed',
    async () => {
      const early = open();
      await early.sees('Which model should the agent use?');
      early.type(KEYS.interrupt);
      expect(await early.ended).toBe(130);
      const late = open();
      await answerAll(late);
      late.type(KEYS.interrupt);
      await late.sees('Nothing was written.');
      expect(await late.ended).toBe(130);
      expect(written()).toBe(before);
      expect(readdirSync(folder.path)).toEqual(['parley.yaml']);
    },
  );

  it.runIf(script)(
    '[U02] [D12] connects a model and a bot and links its owner when no gateway is running',
    async () => {
      const terminal = open();
      await answerAll(terminal);
      terminal.type(KEYS.enter);
      await terminal.sees('Start Parley briefly');
      expect(written()).not.toContain(KEY);
      const [, key = ''] = /apiKey: \$\{file:(secrets\/model-key-[\w.-]+)\}/.exec(written()) ?? [];
      expect(readFileSync(join(folder.path, key), 'utf8').trim()).toBe(KEY);
      expect(written()).not.toContain(telegram.token);
      terminal.type(KEYS.enter);
      await terminal.sees('Write anything to your bot');
      telegram.say({ chat: ANN, text: 'hello?' });
      await terminal.sees("that's me");
      terminal.type(KEYS.enter);
      await terminal.sees('You are the owner now');
      await terminal.sees('Start Parley in this terminal now?');
      terminal.type(`${KEYS.down}${KEYS.enter}`);
      await terminal.sees('Done. Start Parley with');
      expect(await terminal.ended).toBe(0);
      expect(written()).toContain('# mine');
      expect(written()).toContain(`telegram:${ANN}`);
      const copies = readdirSync(folder.path).filter((name) => name.includes('.before-'));
      const [first = ''] = copies.toSorted();
      expect(readFileSync(join(folder.path, first), 'utf8')).toBe(before);
      expect(terminal.text()).not.toContain(KEY);
      expect(existsSync(join(folder.path, 'gateway.json'))).toBe(false);
    },
  );

  it.runIf(script)('[U02] uses the running gateway, which then answers the new owner', async () => {
    writeFileSync(file(), before);
    const gateway = await startParleyInProcess(folder.path);
    onTestFinished(async () => void (await gateway.end()));
    const terminal = open();
    await answerAll(terminal);
    terminal.type(KEYS.enter);
    await terminal.sees('Link your own account now');
    terminal.type(KEYS.enter);
    await terminal.sees('Write anything to your bot');
    telegram.say({ chat: ANN, text: 'hello again?' });
    await terminal.sees("that's me");
    terminal.type(KEYS.enter);
    await terminal.sees('Done. Parley is running');
    expect(await terminal.ended).toBe(0);
    await expect
      .poll(
        () => {
          telegram.say({ chat: ANN, text: 'and now?' });
          return telegram.conversation(ANN).some(({ text }) => text === 'Hello Ann.');
        },
        { timeout: 30_000, interval: 2_000 },
      )
      .toBe(true);
  });
});
