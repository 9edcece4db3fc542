import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openView, startWebScene, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const ANN = 501;
/** A picture of one pixel. */
const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.runIf(chromiumUrl)('an installation in which nothing is configured', () => {
  let scene: WebScene;
  let telegram: TelegramDouble;
  const file = () => join(scene.folder.path, 'parley.yaml');
  beforeAll(async () => {
    telegram = await startTelegramDouble({ picture: Uint8Array.from(Buffer.from(DOT, 'base64')) });
    scene = await startWebScene(chromiumUrl ?? '', { model: 'offline' });
  });
  afterAll(async () => {
    await scene?.close();
    await telegram?.close();
  });

  it('[U02] [D12] is set up from the page: model, channel and owner, without opening a file', async () => {
    const page = await scene.open({ viewport: { width: 320, height: 740 } });
    await page.getByRole('heading', { name: 'Set up' }).waitFor();
    // Telegram is on loopback here; everything else is what a new user has.
    const { port } = new URL(scene.parley.address);
    writeFileSync(
      file(),
      `# mine\nhttp: { port: ${port} }\nchannels:\n  telegram: { apiRoot: "${telegram.apiRoot}", pace: false }\n`,
    );

    const model = page.getByRole('region', { name: 'The model' });
    expect(await model.innerText()).not.toContain('In use');
    await model.getByLabel('Provider').selectOption('Another one');
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
    await model.getByText('In use: openai-compatible/double').waitFor();

    const channel = page.getByRole('region', { name: 'people write' });
    await channel.getByLabel('Token').fill('123:wrong');
    await channel.getByRole('button', { name: 'Try the token' }).click();
    await channel.locator('.trouble').waitFor();
    await channel.getByLabel('Token').fill(telegram.token);
    await channel.getByRole('button', { name: 'Try the token' }).click();
    await channel.getByText('It is @parley_test_bot.').waitFor();
    await channel.locator('img').waitFor();
    const wide = 'document.querySelector("img.setup-picture").naturalWidth';
    await expect.poll(() => page.evaluate(wide)).toBe(1);
    await channel.getByRole('button', { name: 'Connect' }).click();

    const answers = () =>
      telegram.conversation(ANN).flatMap(({ from, text }) => (from === 'bot' ? [text] : []));
    telegram.say({ chat: ANN, text: 'hello?' });
    const me = page.getByRole('button', { name: 'that is me' });
    await me.click();
    await page.getByText(`Owners: telegram:${ANN}`).waitFor();
    const before = answers().length;
    telegram.say({ chat: ANN, text: 'and now?' });
    await telegram.waitFor(() => answers().slice(before).includes('You said: and now?'));

    const written = readFileSync(file(), 'utf8');
    expect(written).toContain('# mine');
    expect(written).toContain('k3y-of-the-double');
    expect(await page.content()).not.toContain('k3y-of-the-double');

    await channel.getByLabel('Channel').selectOption('WhatsApp');
    await channel.getByLabel('Its number').fill('mine');
    await channel.getByRole('button', { name: 'Connect' }).click();
    await channel.getByText('expected: a number such as').waitFor();
    // Nobody listens there.
    const whatsapp = '  whatsapp: { url: "ws://127.0.0.1:9/ws/chat" }\n';
    writeFileSync(file(), written.replace('channels:\n', `channels:\n${whatsapp}`));
    const order = { channel: 'whatsapp', phone: '+49 1512 345678' };
    const { address, token } = scene.parley;
    const saved = await fetch(`${address}/api/setup/save-channel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
    });
    expect(await saved.json()).toMatchObject({ kind: 'done' });
    expect(readFileSync(file(), 'utf8')).toContain('+49 1512 345678');

    await openView(page, 'Chat');
    await page.reload();
    await page.getByRole('textbox', { name: /^Message to/ }).waitFor();
    await page.context().close();
  });
});
