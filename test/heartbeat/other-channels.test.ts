import { startDiscordDouble } from '@parley/simulators/discord';
import { silenceLibsignal, startWhatsAppDouble } from '@parley/simulators/whatsapp';
import { afterEach, describe, expect, it } from 'vitest';
import { linkWhatsApp, waitUntilConnected } from '../e2e/channel-states.ts';
import { startParleyInProcess, type TestParley } from '../e2e/parley-here.ts';
import { type DataFolder, makeDataFolder } from '../e2e/parley-process.ts';
import { createWebClient } from '../e2e/web-client.ts';
import { getMessageText } from '../model/chat-request.ts';
import {
  type BeatModel,
  restartWithDueHeartbeat,
  startBeatModel,
  TASK,
  writeWorkspaceFile,
} from './beat-scene.ts';

const ANN = '491700000001';
const DISCORD_ANN = '200000000000000501';
const ALERT = 'Two letters wait: **the bank** and `Bo`.';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Starts a Parley with one task, on these channels. */
async function open(settings: object) {
  const model = await startBeatModel();
  closing.push(() => model.double.close());
  const folder = makeDataFolder({
    model: { provider: 'openai-compatible', baseUrl: model.double.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 50 },
    http: { port: 0 },
    heartbeat: { quietHours: 'off' },
    ...settings,
  });
  writeWorkspaceFile(folder, 'HEARTBEAT.md', TASK);
  let parley = await startParleyInProcess(folder.path);
  closing.push(async () => {
    await parley.discard();
    folder.remove();
  });
  model.says(ALERT);
  return {
    model,
    parley: () => parley,
    async beat() {
      parley = await restartWithDueHeartbeat(folder as DataFolder, parley);
      return parley;
    },
  } satisfies Opened;
}

interface Opened {
  readonly model: BeatModel;
  readonly parley: () => TestParley;
  readonly beat: () => Promise<TestParley>;
}

/** The whole last request as the model received it. */
const lastAsked = ({ double }: BeatModel) =>
  (double.requests.at(-1)?.body.messages ?? []).map(getMessageText).join('\n');

describe('an alert', () => {
  it('[H04] reaches the owner on WhatsApp once, in WhatsApp markup, and is remembered', async () => {
    closing.push(silenceLibsignal());
    const double = await startWhatsAppDouble();
    closing.push(() => double.close());
    const ann = double.addPerson({ name: 'Ann', number: ANN, addressing: 'lid' });
    const { model, parley, beat } = await open({
      owners: [`whatsapp:${ANN}`],
      channels: { whatsapp: { url: double.url, access: { direct: 'pairing' } } },
    });
    await linkWhatsApp(double, parley());
    const said = () =>
      double
        .conversation(ann.id)
        .filter(({ from }) => from === 'bot')
        .map(({ text }) => text);
    await double.say({ chat: ann.id, text: 'hello' });
    await expect.poll(said).toEqual(['You said: hello']);
    await beat();
    await expect.poll(said).toHaveLength(2);
    await double.say({ chat: ann.id, text: 'what does the bank want?' });
    await expect.poll(said).toHaveLength(3);
    expect(said()[1]).toBe('⚙️ Two letters wait: *the bank* and `Bo`.');
    expect(lastAsked(model)).toContain('Two letters wait');
  });

  it('[H04] reaches the owner on Discord once, and is remembered', async () => {
    const discord = await startDiscordDouble();
    closing.push(() => discord.close());
    const { model, parley, beat } = await open({
      owners: [`discord:${DISCORD_ANN}`],
      channels: { discord: { token: discord.token, apiRoot: discord.apiRoot } },
    });
    await waitUntilConnected(parley());
    const direct = discord.dmWith(DISCORD_ANN);
    const said = () =>
      discord
        .conversation(direct)
        .filter(({ from }) => from === 'bot')
        .map(({ visible }) => visible);
    discord.say({ channel: direct, text: 'hello' });
    await expect.poll(said).toEqual(['You said: hello']);
    await waitUntilConnected(await beat());
    await expect.poll(said).toHaveLength(2);
    discord.say({ channel: direct, text: 'what does the bank want?' });
    await expect.poll(said).toHaveLength(3);
    expect(said()[1]).toBe('⚙️ Two letters wait: the bank and Bo.');
    expect(lastAsked(model)).toContain('Two letters wait');
  });

  it('[H04] reaches the owner on the web page once, and is remembered', async () => {
    const { model, parley, beat } = await open({});
    const asked = await createWebClient(parley()).post('hello');
    expect(asked.status).toBe(200);
    const history = async () => (await createWebClient(parley()).history()).map(plain);
    await expect.poll(history).toEqual(['> hello', 'You said: hello']);
    await beat();
    await expect.poll(history).toHaveLength(3);
    await createWebClient(parley()).post('what does the bank want?');
    await expect.poll(history).toHaveLength(5);
    expect((await history())[2]).toBe('⚙️ Two letters wait: the bank and Bo.');
    expect(lastAsked(model)).toContain('Two letters wait');
  });
});

/** The visible text of HTML. */
function plain(html: string): string {
  return html.startsWith('> ') ? html : html.replace(/<[^>]+>/g, '').trim();
}
