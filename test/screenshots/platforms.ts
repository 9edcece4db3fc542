import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PLATFORMS, type Platform, type PlayerAct } from '@parley/simulators';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { makeDataFolder, startSimulation } from '../e2e/parley-process.ts';
import { getMessageText } from '../model/chat-request.ts';
import { startModelDouble } from '../model/index.ts';
import { openChromium } from '../services/open-chromium.ts';

const PLATFORM_PICTURES = join(import.meta.dirname, '../../docs/images/simulate');
const SIZE = { width: 1280, height: 800 };
const COLORS = 96;

const TRAINS =
  'The **14:32** from platform 3 is the next one; it takes *1 h 48 min*.\n\n| leaves | arrives | changes |\n|---|---|---|\n| 14:32 | 16:20 | 0 |\n| 15:02 | 17:05 | 1 |';
const SCRIPT =
  'This prints every file that is larger than 10 MB:\n\n```bash\nfind . -type f -size +10M -exec ls -lh {} +\n```\n\n- `-type f`: files alone\n- `+10M`: larger than that';

const say = (from: string, text: string, mention = false): PlayerAct => ({
  ...{ kind: 'say', chat: 'friends', from, text },
  ...(mention && { mention }),
});

/** The actions before the picture, each with the text to wait for. */
const PLAYS: Readonly<Record<Platform, readonly (readonly [act: PlayerAct, until: string])[]>> = {
  telegram: [
    [say('bo', 'Who comes to the lake on Saturday?'), 'Saturday?'],
    [say('ann', 'when does the next train leave?', true), 'platform 3'],
    [{ kind: 'react', chat: 'friends', message: 'bot:1', from: 'bo', emoji: '❤' }, '❤ 1'],
    [say('bo', 'what time is it in Tokyo?', true), 'May I use'],
  ],
  discord: [
    [say('ann', 'a script that finds large files?', true), '-type f'],
    [{ kind: 'react', chat: 'friends', message: 'bot:1', from: 'bo', emoji: '❤' }, '❤ 1'],
    [say('bo', 'what time is it in Tokyo?', true), 'May I use'],
  ],
  slack: [
    [say('ann', 'when does the next train leave?', true), 'platform 3'],
    [{ kind: 'react', chat: 'friends', message: 'bot:1', from: 'bo', emoji: '❤' }, '❤️ 1'],
    [say('bo', 'what time is it in Tokyo?', true), 'May I use'],
  ],
  whatsapp: [
    [say('bo', 'Who comes to the lake on Saturday?'), 'Saturday?'],
    [say('ann', 'when does the next train leave?', true), 'platform 3'],
    [{ kind: 'fault', fault: 'reset-before' }, 'platform 3'],
    [say('bo', 'a script that finds large files?', true), '-type f'],
  ],
};

/** Captures each platform as `parley simulate` shows it. */
export async function capturePlatforms(chromiumUrl: string): Promise<void> {
  const model = await startModelDouble();
  model.reply(({ messages }) => {
    const asked = getMessageText(messages.at(-1)).split('\n').at(-1) ?? '';
    if (asked.includes('train')) return TRAINS;
    if (asked.includes('script')) return SCRIPT;
    return { toolCalls: [{ name: 'current_time', arguments: { timeZone: 'Asia/Tokyo' } }] };
  });
  const folder = makeDataFolder({
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    approvals: { ask: ['current_time'] },
    lanes: { collectPauseMs: 50 },
  });
  const browser = await openChromium(chromiumUrl);
  rmSync(PLATFORM_PICTURES, { recursive: true, force: true });
  mkdirSync(PLATFORM_PICTURES, { recursive: true });
  try {
    for (const platform of PLATFORMS) {
      const simulation = await startSimulation(['--data', folder.path, 'simulate', platform]);
      const page = await browser.newPage({ viewport: SIZE, locale: 'en-GB' });
      await page.goto(`${simulation.address}/#token=${simulation.token}`);
      for (const [act, until] of PLAYS[platform]) {
        const headers = { authorization: `Bearer ${simulation.token}` };
        const body = JSON.stringify(act);
        await fetch(`${simulation.address}/api/acts`, { method: 'POST', headers, body });
        await page.getByRole('log').getByText(until).first().waitFor();
      }
      await capturePlatform(page, platform);
      await page.close();
      await simulation.end('SIGINT');
    }
  } finally {
    await browser.close();
    await model.close();
    folder.remove();
  }
}

async function capturePlatform(page: Page, platform: Platform): Promise<void> {
  // Waits for the end of typing and for late drawing.
  await page.getByText('is typing…').first().waitFor({ state: 'detached' });
  await page.waitForTimeout(400);
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  await sharp(picture)
    .png({ palette: true, colors: COLORS, effort: 10 })
    .toFile(join(PLATFORM_PICTURES, `${platform}.png`));
}
