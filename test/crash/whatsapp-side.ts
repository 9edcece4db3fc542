import { silenceLibsignal, startWhatsAppDouble } from '@parley/simulators/whatsapp';
import { type CrashSide, listSenders } from './side.ts';
import { formatQuestion } from './words.ts';

const FIRST_SENDER = 30_001;

/**
 * Direct chats with one linked account; a question counts as delivered when the client has
 * confirmed it.
 */
export async function startWhatsAppSide(chats: number): Promise<CrashSide> {
  const unhush = silenceLibsignal();
  const double = await startWhatsAppDouble();
  const people = new Map(
    listSenders(FIRST_SENDER, chats).map((sender) => {
      const person = double.addPerson({
        name: `Person ${sender}`,
        number: `4915${sender}00`,
        lid: `77${sender}00`,
        addressing: sender % 2 === 0 ? 'pn' : 'lid',
      });
      return [sender, person] as const;
    }),
  );
  const problems: unknown[] = [];
  let leaving = 0;
  return {
    channel: 'whatsapp',
    settings: { url: double.url, pace: false, access: { direct: 'open' } },
    senders: [...people.keys()],
    ask(question) {
      leaving += 1;
      double
        .say({ chat: people.get(question.sender)?.id ?? '', text: formatQuestion(question) })
        .catch((reason: unknown) => void problems.push(reason))
        .finally(() => {
          leaving -= 1;
        });
    },
    allDelivered: () => leaving === 0 && double.waiting().length === 0,
    async look() {
      if (problems.length > 0) throw new AggregateError(problems, 'People could not write');
      return [...people].map(([sender, person]) => ({
        // The chat id that Parley uses: the phone number, if it is known.
        chatId: person.pn ?? person.lid,
        senders: [sender],
        texts: double
          .conversation(person.id)
          .filter(({ from }) => from === 'bot')
          .map(({ text }) => text),
      }));
    },
    scan(code) {
      if (double.state() === 'pairing') double.scan(code);
    },
    close: async () => {
      await double.close();
      unhush();
    },
  };
}
