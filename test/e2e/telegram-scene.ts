import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { getMessageText } from '../model/chat-request.ts';
import {
  type HeldAnswer,
  HeldAnswers,
  type ModelDouble,
  startModelDouble,
} from '../model/index.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import {
  type DataFolder,
  makeDataFolder,
  type ParleyProcess,
  startParleyProcess,
  writeSettings,
} from './parley-process.ts';

/** The people and chats of the Telegram tests. */
export const ANN = 501;
export const BO = 502;
export const STRANGER = 999;
export const GROUP = -5;

/** A Parley connected to local doubles of Telegram and a model. */
export interface TelegramScene {
  readonly telegram: TelegramDouble;
  readonly model: ModelDouble;
  readonly folder: DataFolder;
  readonly parley: TestParley;
  /** The bot's currently visible messages in a chat. */
  answers(chat: number): readonly string[];
  /** Waits until the bot has sent that many messages in a chat, and returns them. */
  untilAnswers(chat: number, count: number, withinMs?: number): Promise<readonly string[]>;
  /**
   * Holds back the answer to the next message that ends with `question`; `asked` resolves when the
   * request has arrived.
   */
  hold(question: string): HeldAnswer;
  /** Stops Parley and starts the same installation in a separate process, which can be killed. */
  startApart(): Promise<ParleyProcess>;
  /** Restarts the same installation in the test process after it has stopped. */
  startAgain(): Promise<TestParley>;
  close(): Promise<void>;
}

interface SceneOptions {
  readonly allow?: readonly number[];
  /** An existing data folder to use. */
  readonly path?: string;
}

/**
 * Starts everything in the test process: Ann is the owner, Bo may write, and the group is served.
 * `more` are model settings, `besides` are other settings.
 */
export async function startTelegramScene(
  more: object = {},
  besides: object = {},
  options: SceneOptions = {},
): Promise<TelegramScene> {
  return (await startScene((data) => startParleyInProcess(data), more, besides, options)).scene;
}

/** Starts everything with Parley in a separate process, which can be killed. */
export function startSeparateTelegramScene(
  more: object = {},
  besides: object = {},
  options: SceneOptions = {},
): Promise<{ readonly scene: TelegramScene; readonly parley: ParleyProcess }> {
  return startScene((data) => startParleyProcess(data), more, besides, options);
}

async function startScene<First extends TestParley>(
  startIn: (data: string) => Promise<First>,
  more: object,
  besides: object,
  { allow = [BO], path }: SceneOptions,
): Promise<{ readonly scene: TelegramScene; readonly parley: First }> {
  const [telegram, model] = await Promise.all([startTelegramDouble(), startModelDouble()]);
  const held = new HeldAnswers();
  model.reply(async ({ messages }) => {
    const question = getLastLine(getMessageText(messages.at(-1)));
    await held.pass(question);
    return `You said: ${question}`;
  });
  const settings = {
    owners: [`telegram:${ANN}`],
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double', ...more },
    lanes: { collectPauseMs: 100 },
    http: { port: 0 },
    media: {
      maxFileMb: 1,
      transcription: { baseUrl: model.baseUrl, model: 'ears' },
      speech: { baseUrl: model.baseUrl, model: 'mouth' },
    },
    channels: {
      telegram: {
        token: telegram.token,
        apiRoot: telegram.apiRoot,
        // The send rate has its own tests; with the real rate, every test would be slow.
        pace: false,
        access: { direct: 'pairing', allow, groups: 'allowlist', allowGroups: [GROUP] },
      },
    },
    ...besides,
  };
  const folder = path === undefined ? makeDataFolder(settings) : toKeptFolder(path, settings);
  const first = await startIn(folder.path);
  let parley: TestParley = first;
  const answers = (chat: number) =>
    telegram
      .conversation(chat)
      .filter(({ from }) => from === 'bot')
      .map(({ text }) => text);
  const scene: TelegramScene = {
    telegram,
    model,
    folder,
    get parley() {
      return parley;
    },
    answers,
    untilAnswers: (chat, count, withinMs = 30_000) =>
      telegram.waitFor(() => answers(chat).length >= count && answers(chat), withinMs),
    hold: (question) => held.hold(question),
    async startApart() {
      await parley.end();
      const apart = await startParleyProcess(folder.path);
      parley = apart;
      return apart;
    },
    async startAgain() {
      parley = await startParleyInProcess(folder.path);
      return parley;
    },
    async close() {
      await parley.discard();
      await Promise.all([telegram.close(), model.close()]);
      folder.remove();
    },
  };
  return { scene, parley: first };
}

function toKeptFolder(path: string, settings: object): DataFolder {
  writeSettings(path, settings);
  return { path, remove() {} };
}

/** The last line is what the person wrote; earlier lines are context for the model. */
function getLastLine(text: string): string {
  return text.split('\n').at(-1) ?? '';
}
