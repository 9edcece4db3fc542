import tls from 'node:tls';
import {
  type Group,
  type Person,
  silenceLibsignal,
  startWhatsAppDouble,
  type VisibleMessage,
  type WhatsAppDouble,
} from '@parley/simulators/whatsapp';
import { getMessageText } from '../model/chat-request.ts';
import {
  type HeldAnswer,
  HeldAnswers,
  type ModelDouble,
  startModelDouble,
} from '../model/index.ts';
import { linkWhatsApp } from './channel-states.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { makeDataFolder, type ParleyProcess, startParleyProcess } from './parley-process.ts';

/** In ms, and generous because a busy machine is slow. */
const TIMEOUT_MS = 30_000;
const ANN = '491700000001';

/**
 * A Parley that is linked to a WhatsApp double on loopback, with Ann as its owner and one served
 * group.
 */
export interface WhatsAppScene {
  readonly double: WhatsAppDouble;
  readonly model: ModelDouble;
  readonly ann: Person;
  readonly group: Group;
  readonly parley: TestParley;
  answers(chat: string): readonly VisibleMessage[];
  /** Waits until the bot has sent that many messages in a chat, and returns them. */
  untilAnswers(chat: string, count: number): Promise<readonly VisibleMessage[]>;
  /** Holds back the answer to the next question that ends with this text. */
  hold(question: string): HeldAnswer;
  /** Stops Parley and starts the same, already linked installation in a separate process. */
  startApart(): Promise<ParleyProcess>;
  /** Restarts the already linked installation in the test process after it has stopped. */
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

/** Starts everything in the test process and scans the code. */
export async function startWhatsAppScene(): Promise<WhatsAppScene> {
  const noisy = silenceLibsignal();
  const [double, model] = await Promise.all([startWhatsAppDouble(), startModelDouble()]);
  const ann = double.addPerson({ name: 'Ann', number: ANN, addressing: 'lid' });
  const group = double.addGroup({ subject: 'Friends', members: [ann.id, double.me.id] });
  const held = new HeldAnswers();
  model.reply(async ({ messages }) => {
    const question = getMessageText(messages.at(-1)).split('\n').at(-1) ?? '';
    await held.pass(question);
    return `You said: ${question}`;
  });
  const folder = makeDataFolder({
    owners: [`whatsapp:${ANN}`],
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 100 },
    http: { port: 0 },
    media: { maxFileMb: 1, transcription: { baseUrl: model.baseUrl, model: 'ears' } },
    channels: {
      whatsapp: { url: double.url, access: { direct: 'pairing', allowGroups: [group.jid] } },
    },
  });
  const distrust = trustMedia(double);
  let parley = await startParleyInProcess(folder.path);
  await linkWhatsApp(double, parley);
  const answers = (chat: string) => double.conversation(chat).filter(({ from }) => from === 'bot');
  return {
    double,
    model,
    ann,
    group,
    get parley() {
      return parley;
    },
    answers,
    untilAnswers: (chat, count) =>
      double.waitFor(() => answers(chat).length >= count && answers(chat), TIMEOUT_MS),
    hold: (question) => held.hold(question),
    async startApart() {
      await parley.end();
      await double.waitFor(() => double.state() === 'away', TIMEOUT_MS);
      const apart = await startParleyProcess(folder.path);
      parley = apart;
      await double.waitFor(() => double.state() === 'open', TIMEOUT_MS);
      return apart;
    },
    async startAgain() {
      await double.waitFor(() => double.state() === 'away', TIMEOUT_MS);
      parley = await startParleyInProcess(folder.path);
      await double.waitFor(() => double.state() === 'open', TIMEOUT_MS);
    },
    async close() {
      await parley.discard();
      await Promise.all([double.close(), model.close()]);
      folder.remove();
      distrust();
      noisy();
    },
  };
}

/**
 * Makes this process trust the double's file server. Returns a function that restores the previous
 * trust.
 */
function trustMedia({ media }: WhatsAppDouble): () => void {
  const trusted = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...trusted, media.certificate]);
  return () => tls.setDefaultCACertificates(trusted);
}
