import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { playScene, readScene, startSimulator } from '@parley/simulators';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { openChromium } from '../services/open-chromium.ts';
import { waitUntilConnected } from './channel-states.ts';
import { findPageFaults } from './page-faults.ts';
import { startParleyInProcess } from './parley-here.ts';
import {
  type DataFolder,
  makeDataFolder,
  runParley,
  type Simulation,
  startSimulation,
} from './parley-process.ts';

const chromiumUrl = inject('chromiumUrl');
const SCENES = resolve(import.meta.dirname, '../../examples/scenes');
const PATH = ['notes', 'AGENTS.md'] as const;

let model: ModelDouble;
/**
 * A user's installation with a workspace and one real channel, whose token is not available here.
 */
let folder: DataFolder;
beforeAll(async () => {
  model = await startModelDouble();
  model.reply(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return 'You will be on time.';
    const said = (getMessageText(last).split('\n').at(-1) ?? '').replace(/@\S+ /, '');
    if (said.includes('what time')) return { toolCalls: [{ name: 'current_time', arguments: {} }] };
    return `You said: ${said}`;
  });
  folder = makeDataFolder({
    ...settingsFor(model),
    agent: { workspace: 'notes', timeZone: 'UTC' },
    channels: {
      telegram: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the settings
        token: '${TOKEN_OF_NO_ENVIRONMENT}',
        pace: false,
        access: { direct: 'allowlist', allow: [1002] },
      },
    },
  });
  mkdirSync(join(folder.path, 'notes'));
  writeFileSync(join(folder.path, ...PATH), 'Rule of the player: be kind.\n');
});
afterAll(async () => {
  await model?.close();
  folder?.remove();
});

const settingsFor = ({ baseUrl }: ModelDouble) => ({
  model: { provider: 'openai-compatible', baseUrl, model: 'double' },
  approvals: { ask: ['current_time'] },
  lanes: { collectPauseMs: 50 },
});
const lastLine = (text: string) => text.trim().split('\n').at(-1);
const play = (platform: string, file: string) =>
  runParley(['--data', folder.path, 'simulate', platform, file]);

describe('scenes', () => {
  it.each(['discord', 'slack'] as const)(
    '[U04] a scene with a group and an approval tests a complete Parley on %s',
    async (simulated) => {
      const simulator = await startSimulator(simulated);
      const { platform, settings, owner, firstGroup } = simulator;
      const access = { allowGroups: [firstGroup] };
      const data = makeDataFolder({
        ...settingsFor(model),
        owners: [owner],
        http: { port: 0 },
        channels: { [platform]: { ...settings, access } },
      });
      const parley = await startParleyInProcess(data.path);
      onTestFinished(async () => {
        await parley.discard();
        await simulator.close();
        data.remove();
      });
      await waitUntilConnected(parley);
      const scene = readScene(readFileSync(join(SCENES, 'approval.jsonl'), 'utf8'));
      expect(await playScene(simulator, scene)).toEqual([]);
    },
  );

  // A test of the page below plays such a scene on Telegram.
  if (isDueToday(0, 3))
    it('[U04] "parley simulate" plays a scene on WhatsApp, and links the account automatically', async () => {
      const { code, out, err } = await play('whatsapp', join(SCENES, 'group.jsonl'));
      expect([code, lastLine(out)], err).toEqual([
        0,
        '5 acts played: the result matches the recording.',
      ]);
    });

  it('[U04] "parley simulate SCENE" plays the scene in a fresh home folder without an API key, and prints the conversation', async () => {
    const home = makeDataFolder({});
    onTestFinished(() => home.remove());
    rmSync(join(home.path, 'parley.yaml'));
    const scene = join(SCENES, 'group.jsonl');
    const { code, out, err } = await runParley([
      '--data',
      home.path,
      'simulate',
      scene,
      '--offline',
    ]);
    expect([code, lastLine(out)], err).toEqual([
      0,
      '5 acts played: the result matches the recording.',
    ]);
    const [first, second, third] = out.split('\n');
    expect([first, second, third]).toEqual([
      ...['[friends] bo: nobody asked the bot', '[friends] ann: @bot are you there?'],
      expect.stringMatching(/^\[friends\] bot to ann:1: I am running and your message reached me/),
    ]);
    expect(readdirSync(home.path)).toEqual([]);
    // A scene with a different expectation fails.
    const wrong = join(home.path, 'wrong.jsonl');
    writeFileSync(
      wrong,
      `${JSON.stringify({ act: { kind: 'say', chat: 'you', from: 'you', text: 'hello' } })}\n` +
        `${JSON.stringify({ shown: { chat: 'you', message: 'bot:1', text: 'Good morning.' } })}\n`,
    );
    const failed = await runParley(['--data', home.path, 'simulate', wrong, '--offline']);
    expect([failed.code, lastLine(failed.out)]).toEqual([1, '1 act played: 1 difference.']);
    expect(failed.out).toContain('you bot:1 is different\n  expected: {"text":"Good morning."}');
  });
});

describe.runIf(chromiumUrl)('the page of parley simulate', () => {
  let browser: Browser;
  let simulation: Simulation;
  let page: Page;
  const complaints: string[] = [];
  const recorded = () => join(folder.path, 'scene.jsonl');
  beforeAll(async () => {
    browser = await openChromium(chromiumUrl ?? '');
    const flags = ['simulate', 'telegram', '--record', recorded()];
    simulation = await startSimulation(['--data', folder.path, ...flags]);
    page = await (await browser.newContext({ viewport: { width: 1280, height: 860 } })).newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.setDefaultTimeout(30_000);
    await page.goto(`${simulation.address}/#token=${simulation.token}`);
  });
  afterAll(async () => {
    await browser?.close();
    await simulation?.end('SIGKILL');
  });

  const as = (person: string) => page.getByRole('combobox', { name: 'As' }).selectOption(person);
  const write = async (text: string) => {
    const field = page.getByRole('textbox', { name: /^Message as/ });
    await field.fill(text);
    await field.press('Enter');
  };
  const bot = (text: string | RegExp) => page.locator('article.bot', { hasText: text });
  const openChat = (name: string) =>
    page
      .getByRole('navigation')
      .getByRole('button', { name: new RegExp(`^${name}`) })
      .click();

  it("[U04] shows a group in which the mentioned bot answers with the user's model and files", async () => {
    await as('bo');
    await page.getByRole('checkbox', { name: 'mention the bot' }).uncheck();
    await write('nobody asked the bot');
    await as('ann');
    await page.getByRole('checkbox', { name: 'mention the bot' }).check();
    await write('are you there?');
    await bot(/You said: .*are you there\?/).waitFor();
    expect(await page.locator('article.bot').count()).toBe(1);
    const asked = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(asked).toContain('Rule of the player');
    expect(asked).toContain('nobody asked the bot');
  });

  it('[U04] [G05] requests an approval with buttons that only the owner may press', async () => {
    await write('what time is it?');
    const question = bot('May I use current_time');
    await question.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('status').filter({ hasText: 'is for my owner' }).waitFor();
    await as('you');
    await question.getByRole('button', { name: 'Approve' }).click();
    await bot('You will be on time.').waitFor();
    expect(await bot('You will be on time.').locator('.quoted').innerText()).toContain('Ann');
  });

  it('[U04] [F12] applies a fault to the next message, and shows it in the list of calls', async () => {
    await page.getByRole('spinbutton', { name: /^A rate limit/ }).fill('1');
    await page.getByRole('button', { name: 'Rate limit' }).click();
    await write('one more');
    const calls = page.getByRole('region', { name: "The bot's calls" });
    await calls.getByText('429 Too Many Requests: retry after 1').waitFor();
    await bot(/You said: .*one more/).waitFor();
  });

  it("[U04] advances the platform's and Parley's clock", async () => {
    await page.getByRole('button', { name: '+1 day' }).click();
    await page.getByText('1,440 minutes ahead').waitFor();
    await openChat('You');
    await write('what time is it?');
    await bot('May I use').getByRole('button', { name: 'Approve' }).click();
    await bot('You will be on time.').waitFor();
    const day = new Date(Date.now() + 24 * 3_600_000);
    const written = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain(
      day.toLocaleDateString('en-GB', written),
    );
  });

  it('[U04] can create people, groups, topics, replies, reactions, edits and files', async () => {
    await openChat('Friends');
    await page.getByRole('textbox', { name: 'A new name' }).fill('Plans');
    await page.getByRole('button', { name: 'Open thread' }).click();
    await page.getByRole('heading', { name: 'Plans' }).waitFor();
    const bytes = Buffer.from('a shopping list');
    const file = { name: 'list.txt', mimeType: 'text/plain', buffer: bytes };
    await page.getByLabel('Attach').setInputFiles(file);
    await page.getByText('Attached: list.txt').waitFor();
    await write('in a topic');
    await page.locator('article.mine').getByRole('button', { name: 'list.txt' }).waitFor();
    const answer = bot('You said: in a topic');
    await answer.hover();
    await answer.getByRole('button', { name: 'React with 👍' }).click();
    await answer.locator('.reactions').getByText('👍 1').waitFor();
    const own = page.locator('article.mine', { hasText: 'in a topic' });
    await own.hover();
    await own.getByRole('button', { name: 'Edit' }).click();
    await write('in this topic');
    await page.locator('article.mine', { hasText: 'in this topic' }).getByText('edited').waitFor();
  });

  it('[U03] does not have axe violations, is readable, and logs nothing to the console', async () => {
    expect(await findPageFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    const stranger = await fetch(`${simulation.address}/api/world`);
    expect(stranger.status).toBe(401);
  });

  it("[U04] replays a recording and leaves the user's installation unchanged", async () => {
    await page.close();
    const { code } = await simulation.end('SIGINT');
    expect(code).toBe(0);
    const { code: same, out, err } = await play('telegram', recorded());
    expect([same, out.trim()], err).toEqual([
      0,
      expect.stringMatching(/acts played: the result matches the recording\.$/),
    ]);
    rmSync(recorded());
    expect(readdirSync(folder.path).sort()).toEqual(['notes', 'parley.yaml']);
    expect(readdirSync(join(folder.path, 'notes'))).toEqual(['AGENTS.md']);
  });
});
