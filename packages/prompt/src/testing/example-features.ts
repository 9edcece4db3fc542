import type { Audience, PromptPart } from '@parley/core';
import type { SkillSnapshot } from '@parley/workspace';
import type { PromptFeatures } from '../context.ts';
import { GUEST_TOOLS, TOOLS } from './example-tools.ts';

const OWNERS: Audience = { kind: 'owner' };
const EVERYONE: Audience = { kind: 'everyone' };

const part = (source: string, text: string, audience: Audience = OWNERS): PromptPart => ({
  source,
  text,
  audience,
});

/** Two skills: one to be read when it is needed, one that stands in the prompt. */
export const SKILLS: SkillSnapshot = {
  version: '1',
  catalogue: `<available_skills>
<skill><name>book-search</name><description>Find a book by what somebody remembers of it.</description><location>~/.parley/workspace/skills/book-search/SKILL.md</location></skill>
</available_skills>`,
  inline: [{ name: 'opening-hours', body: 'Tuesday to Saturday, 10 to 19. Closed on Mondays.' }],
  names: ['book-search', 'opening-hours'],
  requiredEnv: [],
  filter: null,
  left: 0,
  audience: EVERYONE,
};

/** What sources fill in for the owner's direct chat. */
export const OWNER_FEATURES: PromptFeatures = {
  tools: TOOLS,
  conversationMode: 'agent',
  approvals: part('approvals', 'Sending mail and running commands wait for Ann’s yes.'),
  persona: part('personas/bookseller.md', 'You speak like a bookseller who has read it.', EVERYONE),
  userProfile: part('saved memories', 'Prefers tea to coffee.\nSpeaks German at home.'),
  projectProfile: part('saved memories', 'Moving the shop’s catalogue to the new till.'),
  memories: [part('memory', 'Likes the window display to change on the first of the month.')],
  knowledge: [
    part('knowledge/suppliers.md', 'The almanac comes from Nordbuch; they deliver on Tuesdays.'),
  ],
  yesterday: part(
    'yesterday',
    'Goal: forty almanacs before Advent.\nDone: ordered.\nOpen: where to put them.',
  ),
  connectors: [
    { name: 'browser', connected: true, text: 'You can look at pages Ann has open.' },
    { name: 'desktop', connected: false, text: 'You can click for Ann.' },
  ],
  mcpPrompts: [{ server: 'shop', name: 'reorder', description: 'Order what is running low.' }],
  resources: [
    {
      name: 'price list',
      location: 'knowledge/prices.csv',
      description: 'What every book costs, from this month.',
    },
  ],
  sandbox: { kind: 'bubblewrap', text: 'No network; files in your workspace only.' },
  attachments: [{ kind: 'image', mimeType: 'image/jpeg', size: 248_300 }],
  todos: [
    { text: 'order the almanacs', state: 'done' },
    { text: 'clear the front table', state: 'doing' },
    { text: 'write the sign for the window', state: 'open' },
  ],
  silentToken: 'NO_REPLY',
  replyTags: true,
};

/** What they fill in for everyone else: nothing private is theirs to give. */
export function guestFeatures(conversationId: string): PromptFeatures {
  const here: Audience = { kind: 'conversation', conversationId };
  return {
    tools: GUEST_TOOLS,
    conversationMode: 'ask',
    persona: part(
      'personas/bookseller.md',
      'You speak like a bookseller who has read it.',
      EVERYONE,
    ),
    outputFormat: part(
      'output-formats/emotion_bracket.md',
      'Begin each answer with your mood in square brackets, such as [calm].',
      EVERYONE,
    ),
    userProfile: part('saved memories', 'Collects detective stories.', here),
    silentToken: 'NO_REPLY',
  };
}
