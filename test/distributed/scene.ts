import { type DiscordDouble, startDiscordDouble } from '@parley/simulators/discord';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { getMessageText } from '../model/chat-request.ts';
import { HeldAnswers, type ModelDouble, startModelDouble } from '../model/index.ts';
import { type Deployment, openDeployment, type ServiceAddresses } from './deployment.ts';
import type { Member } from './member.ts';

/** The first person who writes on Telegram; the other people have the following numbers. */
export const ANN = 501;

/** The state of an account at one of the gateways. */
export interface ObservedState {
  readonly kind: string;
  readonly holder?: string;
}

/** A deployment between Telegram, Discord and a model on loopback. */
export interface DeploymentScene {
  readonly telegram: TelegramDouble;
  readonly discord: DiscordDouble;
  readonly model: ModelDouble;
  readonly deployment: Deployment;
  readonly held: HeldAnswers;
  /** The bot's messages in a Telegram chat. */
  answers(chat?: number): readonly string[];
  /** Writes in a Telegram chat and waits for the answer; returns how long that took, in ms. */
  ask(text: string, withinMs?: number): Promise<number>;
  stateOf(member: Member, channel?: string): Promise<ObservedState>;
  close(): Promise<void>;
}

/** Opens the scene; no Parley process runs yet. Everyone may write. */
export async function openScene(
  services: ServiceAddresses,
  settings: object = {},
): Promise<DeploymentScene> {
  const [telegram, discord, model] = await Promise.all([
    startTelegramDouble(),
    startDiscordDouble(),
    startModelDouble(),
  ]);
  const held = new HeldAnswers();
  scriptAnswers(model, held);
  const access = { direct: 'open' };
  const deployment = await openDeployment(services, {
    owners: [`telegram:${ANN}`],
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    spend: { perStrangerDaily: 'off' },
    lanes: { collectPauseMs: 50, busy: 'followup' },
    channels: {
      telegram: { token: telegram.token, apiRoot: telegram.apiRoot, access },
      discord: { token: discord.token, apiRoot: discord.apiRoot, access },
    },
    ...settings,
  });
  const answers = (chat = ANN) =>
    telegram
      .conversation(chat)
      .filter(({ from }) => from === 'bot')
      .map(({ text }) => text);
  return {
    telegram,
    discord,
    model,
    deployment,
    held,
    answers,
    async ask(text, withinMs = 30_000) {
      const asked = Date.now();
      telegram.say({ chat: ANN, text });
      await telegram.waitFor(() => answers().includes(`You said: ${text}`), withinMs);
      return Date.now() - asked;
    },
    async stateOf(member, channel = 'telegram') {
      const { body } = await deployment.get(member, '/api/status/report');
      return JSON.parse(body).channels.find((one: { channel: string }) => one.channel === channel)
        .state;
    },
    async close() {
      await deployment.close();
      await Promise.all([telegram.close(), discord.close(), model.close()]);
    },
  };
}

function scriptAnswers(model: ModelDouble, held: HeldAnswers): void {
  model.reply(async ({ messages }) => {
    const question = getMessageText(messages.at(-1)).split('\n').at(-1) ?? '';
    await held.pass(question);
    return `You said: ${question}`;
  });
}
