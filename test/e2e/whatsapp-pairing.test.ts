import { isFullRun } from '@parley/core/testing';
import { silenceLibsignal, startWhatsAppDouble } from '@parley/simulators/whatsapp';
import qrcode from 'qrcode';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openChromium } from '../services/open-chromium.ts';
import { fetchChannelStates } from './channel-states.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { makeDataFolder, startParleyProcess } from './parley-process.ts';

const chromiumUrl = inject('chromiumUrl');
/** The limit is generous because a busy machine is slow. */
const TIMEOUT = { timeout: 20_000 };
const PICTURE = '/channels/whatsapp/default/code.svg';

/** Used by tests of the terminal output. */
const apart = (data: string) => startParleyProcess(data);

async function unlinkedParley(
  startIn: (data: string) => Promise<TestParley>,
  settings: object = {},
) {
  onTestFinished(silenceLibsignal());
  const double = await startWhatsAppDouble();
  const folder = makeDataFolder({
    http: { port: 0 },
    log: { level: 'debug' },
    channels: { whatsapp: { url: double.url, access: { direct: 'open' }, ...settings } },
  });
  const parley = await startIn(folder.path);
  onTestFinished(async () => {
    await parley.discard();
    await double.close();
    folder.remove();
  });
  await double.waitFor(() => double.state() === 'pairing');
  return { double, parley };
}

function ask({ address, token }: TestParley, path: string): Promise<Response> {
  return fetch(`${address}${path}`, { headers: { authorization: `Bearer ${token}` } });
}

async function codeOf(parley: TestParley): Promise<string | undefined> {
  const states = await fetchChannelStates(parley);
  return states.find(({ channel }) => channel === 'whatsapp')?.code;
}

describe('linking WhatsApp', () => {
  it('[U03] shows the code only to signed-in users, and never in a log', async () => {
    const { double, parley } = await unlinkedParley(apart);
    await expect.poll(() => codeOf(parley), TIMEOUT).toBeDefined();
    const code = await codeOf(parley);
    expect((await fetch(`${parley.address}${PICTURE}`)).status).toBe(401);
    const picture = await ask(parley, PICTURE);
    expect(picture.headers.get('content-type')).toBe('image/svg+xml');
    const drawn = await qrcode.toString(code ?? '', { type: 'svg', errorCorrectionLevel: 'L' });
    expect(await picture.text()).toBe(drawn);
    double.scan(code ?? '');
    await double.waitFor(() => double.state() === 'open');
    await expect.poll(async () => (await ask(parley, PICTURE)).status, TIMEOUT).toBe(404);
    const secret = code?.split(',').at(-2) ?? '';
    expect(secret.length).toBeGreaterThan(20);
    const ann = double.addPerson({ name: 'Ann' });
    await double.say({ chat: ann.id, text: '/whoami' });
    await double.say({ chat: ann.id, text: 'hello' });
    const answers = () => double.conversation(ann.id).filter(({ from }) => from === 'bot');
    await double.waitFor(() => answers().length >= 2);
    const log = parley.out() + parley.err();
    expect(log).toContain('"outcome":"answered"');
    for (const name of [secret, ann.pn, ann.lid, double.me.pn, double.me.lid])
      expect(log).not.toContain(name?.split('@')[0]);
  });

  it.runIf(chromiumUrl)(
    '[U03] works by scanning the code at its account on the web page, which then removes the code',
    async () => {
      const { double, parley } = await unlinkedParley(startParleyInProcess);
      const browser = await openChromium(chromiumUrl ?? '');
      onTestFinished(() => browser.close());
      const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
      await page.goto(`${parley.address}/#token=${parley.token}`);
      await page.getByRole('link', { name: 'Show the code' }).click(TIMEOUT);
      const account = page.getByRole('article', { name: 'whatsapp' });
      const picture = account.getByRole('img', { name: 'QR code that links WhatsApp' });
      await picture.waitFor(TIMEOUT);
      const width = 'document.querySelector(".pairing img").naturalWidth';
      await expect.poll(() => page.evaluate(width), TIMEOUT).toBeGreaterThan(0);
      const wide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      expect(await page.evaluate(wide)).toBe(false);
      double.scan((await codeOf(parley)) ?? '');
      await picture.waitFor({ state: 'detached', timeout: 20_000 });
    },
  );

  it.runIf(chromiumUrl)(
    '[U02] works by typing the code that the web page and the terminal show for a phone number',
    async () => {
      // The terminal code is tested above, where it is drawn; a full run tests it here as well.
      const startIn = isFullRun() ? apart : (data: string) => startParleyInProcess(data);
      const { double, parley } = await unlinkedParley(startIn, { phone: '+49 1500 000001' });
      const browser = await openChromium(chromiumUrl ?? '');
      onTestFinished(() => browser.close());
      const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
      await page.goto(`${parley.address}/#token=${parley.token}`);
      await page.getByRole('link', { name: 'Show the code' }).click(TIMEOUT);
      const link = page.getByRole('region', { name: 'Link WhatsApp' });
      const code = await link.getByRole('status').innerText(TIMEOUT);
      expect(await codeOf(parley)).toBe(code);
      expect(await link.innerText()).toContain(
        'Link with phone number instead, and type this code',
      );
      await double.typeCode(code);
      await link.waitFor({ state: 'detached', timeout: 20_000 });
      await double.waitFor(() => double.state() === 'open');
      expect(parley.out() + parley.err()).not.toContain(code);
    },
  );
});
