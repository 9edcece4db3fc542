import type { SlackDouble } from '@parley/simulators/slack';
import { z } from 'zod';

/** The conversation in which a person writes to the bot. */
export interface SlackRoom {
  readonly sender: number;
  /** The member's id. */
  readonly from: string;
  readonly channel: string;
  readonly threadTs?: string;
  /** Added before each text in places where the bot must be mentioned. */
  readonly mention: string;
}

/**
 * Every second person has a direct chat with the bot; each of the other people has a channel, with
 * a thread in which they mention the bot.
 */
export function openSlackRooms(
  double: SlackDouble,
  senders: readonly number[],
): readonly SlackRoom[] {
  return senders.map((sender, nth) => {
    const from = double.addMember({ name: `Person ${sender}` });
    if (nth % 2 === 0) return { sender, from, channel: double.directChat(from), mention: '' };
    const channel = double.addChannel({ name: `room-${sender}`, members: [from] });
    const { ts: threadTs } = double.say({ channel, text: 'Questions go into this thread' });
    return { sender, from, channel, threadTs, mention: `<@${double.me.id}> ` };
  });
}

interface SlackPerson {
  readonly room: SlackRoom;
  readonly waiting: string[];
  /** The unacknowledged events of the message that was sent last. */
  readonly open: Set<string>;
}

/** One attempt to deliver an event. */
type DeliveryAttempt = ReturnType<SlackDouble['deliveries']>[number];

const Envelope = z.object({ event_id: z.string() });

/**
 * People who send each message after the bot has acknowledged the previous one. Slack delivers a
 * failed event after newer events, so it promises an order only for acknowledged events.
 */
export class SlackPeople {
  readonly #double: SlackDouble;
  readonly #people: ReadonlyMap<number, SlackPerson>;
  /** Delivery attempts without a result so far. */
  #pending: readonly DeliveryAttempt[] = [];
  #seen = 0;
  /** The person whose message is being sent and whose events follow. */
  #saying: SlackPerson | undefined;

  constructor(double: SlackDouble, rooms: readonly SlackRoom[]) {
    this.#double = double;
    this.#people = new Map(
      rooms.map((room) => [room.sender, { room, waiting: [], open: new Set<string>() }]),
    );
    double.transcript.changes.onChange(() => this.#settle());
  }

  say(sender: number, text: string): void {
    const person = this.#people.get(sender);
    if (person === undefined) throw new Error(`${sender} is not in this workspace.`);
    person.waiting.push(text);
    this.#sayNext(person);
  }

  allDelivered(): boolean {
    return [...this.#people.values()].every(
      ({ waiting, open }) => waiting.length === 0 && open.size === 0,
    );
  }

  #sayNext(person: SlackPerson): void {
    const { room, waiting, open } = person;
    if (open.size > 0) return;
    const text = waiting.shift();
    if (text === undefined) return;
    const { channel, from, threadTs, mention } = room;
    this.#saying = person;
    this.#double.say({ channel, from, threadTs, text: `${mention}${text}` });
    this.#saying = undefined;
  }

  #settle(): void {
    const { transcript } = this.#double;
    const news = transcript.deliveriesAfter(this.#seen);
    this.#seen = news.at(-1)?.seq ?? this.#seen;
    for (const attempt of news) this.#saying?.open.add(getEventId(attempt));
    const all = [...this.#pending, ...news];
    this.#pending = all.filter(({ outcome }) => outcome === 'pending');
    const done = all.filter(({ outcome }) => outcome === 'acknowledged').map(getEventId);
    if (done.length === 0) return;
    for (const person of this.#people.values()) {
      const before = person.open.size;
      for (const event of done) person.open.delete(event);
      if (person.open.size < before) this.#sayNext(person);
    }
  }
}

function getEventId({ payload }: DeliveryAttempt): string {
  return Envelope.parse(payload).event_id;
}
