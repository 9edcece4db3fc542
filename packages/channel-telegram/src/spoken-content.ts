import { z } from 'zod';

const Point = z.object({ latitude: z.number(), longitude: z.number() });
const Content = z.object({
  venue: z.object({ title: z.string(), address: z.string(), location: Point }).optional(),
  location: Point.optional(),
  contact: z
    .object({
      phone_number: z.string(),
      first_name: z.string(),
      last_name: z.string().optional(),
    })
    .optional(),
  poll: z
    .object({ question: z.string(), options: z.array(z.object({ text: z.string() })) })
    .optional(),
  dice: z.object({ emoji: z.string(), value: z.int() }).optional(),
});

/**
 * Places, contacts, polls and dice in words: whoever sends one expects to be understood, and a
 * message without words would be met with silence. Empty for everything else.
 */
export function spokenContent(message: object): string {
  const content = Content.safeParse(message);
  if (!content.success) return '';
  // A venue is a location too.
  const { venue, location, contact, poll, dice } = content.data;
  if (venue) return `[Place: ${venue.title}, ${venue.address} (${coordinates(venue.location)})]`;
  if (location) return `[Location: ${coordinates(location)}]`;
  if (contact) return `[Contact: ${nameOf(contact)}, ${contact.phone_number}]`;
  if (poll) return `[Poll: ${poll.question} ${poll.options.map(({ text }) => text).join(' / ')}]`;
  return dice ? `[${dice.emoji} shows ${dice.value}]` : '';
}

function coordinates({ latitude, longitude }: z.infer<typeof Point>): string {
  return `${latitude}, ${longitude}`;
}

function nameOf({ first_name, last_name }: { first_name: string; last_name?: string | undefined }) {
  return [first_name, last_name].filter(Boolean).join(' ');
}
