import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDiscordDouble } from '@parley/simulators/discord';
import { startSlackDouble } from '@parley/simulators/slack';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openView, startWebScene, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const ANN = 501;
/** A one-pixel picture. */
const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.runIf(chromiumUrl)('an unconfigured installation', () => {
  let scene: WebScene;
  let telegram: TelegramDouble;
  const file = () => join(scene.folder.path, 'parley.yaml');
  /** Calls an operation as the owner and returns its response. */
  async function call(name: string, input: object): Promise<unknown> {
    const { address, token } = scene.parley;
    const answer = await fetch(`${address}/api/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    return answer.json();
  }
  beforeAll(async () => {
    telegram = await startTelegramDouble({ picture: Uint8Array.from(Buffer.from(DOT, 'base64')) });
    scene = await startWebScene(chromiumUrl ?? '', { model: 'offline' });
  });
  afterAll(async () => {
    await scene?.close();
    await telegram?.close();
  });

  it('[U02] [D12] is set up on the page: model, channel and owner, without opening a file', async () => {
    const page = await scene.open({ viewport: { width: 320, height: 740 } });
    await page.getByRole('heading', { name: 'Set up' }).waitFor();
    // Telegram is on loopback in this test; everything else is what a new user has.
    const { port } = new URL(scene.parley.address);
    writeFileSync(
      file(),
      `# mine\nhttp: { port: ${port} }\nchannels:\n  telegram: { apiRoot: "${telegram.apiRoot}", pace: false }\n`,
    );

    const model = page.getByRole('region', { name: 'Connect a model' });
    const channel = page.getByRole('region', { name: 'Connect a channel' });
    expect(await model.innerText()).not.toContain('In use');
    expect(await channel.getByLabel('Token').count()).toBe(0);
    await model.getByLabel('Provider').selectOption('Another one');
    await model.getByLabel('Address').fill('my server');
    await model.getByRole('button', { name: 'Try it' }).click();
    await model.getByRole('status').filter({ hasText: 'Address: it must be a URL' }).waitFor();
    await model.getByLabel('Address').fill('http://127.0.0.1:9/v1');
    await model.getByRole('button', { name: 'Try it' }).click();
    await model.getByRole('status').filter({ hasText: '127.0.0.1:9' }).waitFor();
    await model.getByLabel('Address').fill(scene.model.baseUrl);
    await model.getByLabel('Key').fill('k3y-of-the-double');
    await model.getByRole('button', { name: 'Try it' }).click();
    await model.getByText('Choose a model.').waitFor();
    await model.getByLabel('Model', { exact: true }).fill('double');
    await model.getByRole('button', { name: 'Try it' }).click();
    await model.getByText('openai-compatible/double answered').waitFor();
    await model.getByRole('button', { name: 'Use this model' }).click();
    // The step collapses to a line, and the next one opens by itself.
    await model.getByText('In use: openai-compatible/double').waitFor();
    expect(await model.getByLabel('Address').count()).toBe(0);
    await page.locator('header', { hasText: 'openai-compatible/double' }).first().waitFor();

    await channel.getByLabel('Token').fill('123:wrong');
    await channel.getByRole('button', { name: 'Try the token' }).click();
    await channel.locator('.trouble').waitFor();
    await channel.getByLabel('Token').fill(telegram.token);
    await channel.getByRole('button', { name: 'Try the token' }).click();
    await channel.getByText('It is @parley_test_bot.').waitFor();
    await channel.locator('img').waitFor();
    const wide = 'document.querySelector("img.setup-picture").naturalWidth';
    await expect.poll(() => page.evaluate(wide)).toBe(1);
    await channel.getByRole('button', { name: 'Connect', exact: true }).click();
    await channel.getByText('Connected as @parley_test_bot').waitFor();
    expect(await channel.getByLabel('Token').count()).toBe(0);

    const answers = () =>
      telegram.conversation(ANN).flatMap(({ from, text }) => (from === 'bot' ? [text] : []));
    telegram.say({ chat: ANN, text: 'hello?' });
    const me = page.getByRole('button', { name: "that's me" });
    await me.click();
    await page.getByText(`Owned by telegram:${ANN}`).waitFor();
    await page.getByText('Everything is set up.').waitFor();
    expect(answers()[0]).toContain("“That's me”");
    expect(answers()[0]).not.toContain('settings');
    const left = await call('channels/report', {});
    expect(left).toMatchObject({ waiting: [] });
    const before = answers().length;
    telegram.say({ chat: ANN, text: 'and now?' });
    await telegram.waitFor(() => answers().slice(before).includes('You said: and now?'));

    const written = readFileSync(file(), 'utf8');
    expect(written).toContain('# mine');
    for (const [name, secret] of [
      [/\$\{file:(secrets\/model-key-[\w.-]+)\}/, 'k3y-of-the-double'],
      [/\$\{file:(secrets\/telegram-token)\}/, telegram.token],
    ] as const) {
      const [, kept = ''] = name.exec(written) ?? [];
      expect(written).not.toContain(secret);
      expect(readFileSync(join(scene.folder.path, kept), 'utf8').trim()).toBe(secret);
    }
    const audit = JSON.stringify(await call('audit/report', {}));
    expect(audit).not.toContain('files.secrets-in-clear');
    expect(await page.content()).not.toContain('k3y-of-the-double');

    await channel.getByRole('button', { name: 'Change: Connect a channel' }).click();
    await channel.getByRole('combobox', { name: 'Channel' }).selectOption('WhatsApp');
    await channel.getByLabel('Phone number').fill('mine');
    await channel.getByRole('button', { name: 'Connect', exact: true }).click();
    await channel.getByText('Phone number: expected a number such as').waitFor();
    // No server listens on this port.
    const whatsapp = '  whatsapp: { url: "ws://127.0.0.1:9/ws/chat" }\n';
    writeFileSync(file(), written.replace('channels:\n', `channels:\n${whatsapp}`));
    const order = { channel: 'whatsapp', phone: '+49 1512 345678' };
    expect(await call('setup/save-channel', order)).toMatchObject({ kind: 'done' });
    expect(readFileSync(file(), 'utf8')).toContain('+49 1512 345678');

    await openView(page, 'Chat');
    await page.reload();
    await page.getByRole('textbox', { name: /^Message to/ }).waitFor();
    await page.context().close();
  });

  it('[U02] shows a link that invites a Discord bot as soon as its token works', async () => {
    const discord = await startDiscordDouble();
    try {
      const { port } = new URL(scene.parley.address);
      const api = `  discord: { apiRoot: "${discord.apiRoot}" }\n`;
      writeFileSync(file(), `http: { port: ${port} }\nmodel: offline\nchannels:\n${api}`);
      const tried = { channel: 'discord', token: discord.token };
      const bot = { bot: { invitation: expect.stringContaining('client_id=') } };
      await expect.poll(() => call('setup/try-channel', tried)).toMatchObject(bot);
      const page = await scene.open();
      await openView(page, 'Set up');
      const channel = page.getByRole('region', { name: 'Connect a channel' });
      await channel.getByRole('button', { name: /^(Open|Change): Connect a channel/ }).click();
      const choice = channel.getByRole('combobox', { name: 'Channel' });
      await choice.selectOption('Discord');
      await channel.getByLabel('Token').fill(discord.token);
      await channel.getByRole('button', { name: 'Try the token' }).click();
      const link = channel.getByRole('link', { name: 'Invite the bot to a server' });
      await link.waitFor();
      const address = new URL((await link.getAttribute('href')) ?? '');
      expect(address.origin + address.pathname).toBe('https://discord.com/oauth2/authorize');
      expect(address.searchParams.get('scope')).toContain('bot');
      expect(await link.getAttribute('rel')).toContain('noopener');
      await page.context().close();
    } finally {
      await discord.close();
    }
  });

  it('[U02] [F15] connects a Slack workspace, and shows the address and what is not durable', async () => {
    const slack = await startSlackDouble();
    try {
      const { port } = new URL(scene.parley.address);
      writeFileSync(
        file(),
        `http: { port: ${port} }\nmodel: offline\nchannels:\n  slack:\n    use: '@chat-adapter/slack'\n    options: { apiUrl: "${slack.apiUrl}" }\n`,
      );
      const page = await scene.open();
      await openView(page, 'Set up');
      const channel = page.getByRole('region', { name: 'Connect a channel' });
      await channel.getByRole('button', { name: /^(Open|Change): Connect a channel/ }).click();
      await channel.getByRole('combobox', { name: 'Channel' }).selectOption('Slack');
      await channel.getByText('/channels/slack/default/').waitFor();
      await channel.getByText('What is not durable on this platform').click();
      await channel.getByText('Modals are not used').waitFor();
      const tryIt = channel.getByRole('button', { name: 'Try it' });
      expect(await tryIt.isDisabled()).toBe(true);
      await channel.getByLabel('Bot token').fill('xoxb-wrong');
      await channel.getByLabel('App-level token').fill(slack.appToken);
      await tryIt.click();
      await channel.getByText('Slack refuses the bot token').waitFor();
      await channel.getByLabel('Bot token').fill(slack.botToken);
      await tryIt.click();
      await channel.getByText(`It is @${slack.me.name}`).waitFor();
      await channel.getByRole('button', { name: 'Connect', exact: true }).click();
      await slack.waitFor(() => slack.connections() > 0);
      await channel.getByText('Connected as').waitFor();
      expect(readFileSync(file(), 'utf8')).not.toContain(slack.botToken);
      expect(await call('settings/schema', {})).toMatchObject({
        properties: { channels: { properties: { slack: { title: 'Slack' } } } },
      });
      await page.context().close();
    } finally {
      await slack.close();
    }
  });

  it('[U02] shows a result only beside the values that were checked, and keeps the selection while it waits', async () => {
    const page = await scene.open();
    /** Answers a step once the returned function is called. */
    const hold = async (step: string, json: object) => {
      const held = Promise.withResolvers<void>();
      await page.route(`**/api/setup/${step}`, async (route) => {
        await held.promise;
        await route.fulfill({ json });
      });
      return async () => {
        const answered = page.waitForResponse(`**/api/setup/${step}`);
        held.resolve();
        await answered;
        await page.unroute(`**/api/setup/${step}`);
      };
    };
    await openView(page, 'Set up');
    const model = page.getByRole('region', { name: 'Connect a model' });
    const provider = model.getByLabel('Provider');
    const address = model.getByLabel('Address');
    await provider.selectOption('Another one');
    await address.fill('http://127.0.0.1:9/first');
    const works = { kind: 'works', text: 'The first one answers.', models: ['one', 'two'] };
    const answerModel = await hold('try-model', works);
    await model.getByRole('button', { name: 'Try it' }).click();
    expect(await provider.isDisabled()).toBe(true);
    await address.fill('http://127.0.0.1:9/second');
    await answerModel();
    await expect.poll(() => provider.isDisabled()).toBe(false);
    expect(await model.getByText(/The first one answers|It offers/).count()).toBe(0);
    await address.fill('http://127.0.0.1:9/first');
    await model.getByText('The first one answers.').waitFor();
    await model.getByLabel('Model', { exact: true }).fill('two');
    await model.getByText('The first one answers.').waitFor({ state: 'hidden' });
    await model.getByText('It offers one, two.').waitFor();
    const refuse = { kind: 'problem', reason: 'Not now.', fix: 'Try again.', models: null };
    const answerSave = await hold('save-model', refuse);
    await model.getByRole('button', { name: 'Use this model' }).click();
    expect([await provider.isDisabled(), await address.isDisabled()]).toEqual([true, true]);
    await answerSave();
    await model.getByText('Not now. Try again.').waitFor();
    expect([await provider.isDisabled(), await address.isDisabled()]).toEqual([false, false]);

    const channel = page.getByRole('region', { name: 'Connect a channel' });
    await channel.getByRole('button', { name: /^(Open|Change): Connect a channel/ }).click();
    await channel.getByRole('combobox', { name: 'Channel' }).selectOption('Telegram');
    await channel.getByLabel('Token').fill('1:first');
    const bot = { name: '@first', picture: null, invitation: null };
    const answerChannel = await hold('try-channel', {
      ...{ kind: 'works', text: 'It is @first.', models: null, bot },
    });
    await channel.getByRole('button', { name: 'Try the token' }).click();
    await channel.getByLabel('Token').fill('1:second');
    await answerChannel();
    await expect.poll(() => channel.getByRole('combobox').isDisabled()).toBe(false);
    expect(await channel.getByText('@first').count()).toBe(0);
    await page.context().close();
  });
});
