import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../capabilities.ts';
import { parseMarkdown } from '../parse/parse.ts';
import { printPlainLeaves } from '../print/lines.ts';
import { render } from '../render.ts';
import { runAllSteps } from '../steps.ts';
import { toLeaves } from './blocks.ts';

type Dialect = keyof typeof CAPABILITIES;

/** The visible text, with `·` for the zero-width space in a neutralized mention. */
const show = (markdown: string, dialect: Dialect, mentions?: 'live') =>
  printPlainLeaves(
    runAllSteps(toLeaves(runAllSteps(parseMarkdown(markdown)), CAPABILITIES[dialect], mentions)),
    {
      addresses: true,
    },
  ).replaceAll('\u200b', '·');

const telegram: [what: string, markdown: string, shown: string][] = [
  ['a username', 'Ask @durov, (@ada_1).', 'Ask @·durov, (@·ada_1).'],
  ['a username with marks', '@**durov** <u>@</u>durov @du**r**ov', '@·durov @·durov @·durov'],
  ['usernames in links', '[@durov](https://e.org)', '@·durov (https://e.org)'],
  ['usernames behind signs', '.@ada @@ada /@ada', '.@·ada @@·ada /@·ada'],
  ['usernames in headings and items', '# @ada\n- @ada', '@·ada\n• @·ada'],
  ['usernames in names of footnotes', '[^@ada]: x', '[@·ada] x'],
  ['usernames in HTML', '<b>@ada</b>', '<b>@·ada</b>'],
];

const untouched: [what: string, markdown: string, shown?: string][] = [
  ['e-mail addresses', 'ada@example.org'],
  ['a lone @', 'a @ b, @, @a'],
  ['code', '`@ada` `npm i @types/node`', '@ada npm i @types/node'],
  ['code blocks', '```\n@ada\n```', '@ada'],
  ['bare addresses', 'https://medium.com/@user and https://e.org/a/@x'],
  ['addresses as written', '[x]: https://medium.com/@user'],
  ['bare addresses without a scheme', 'medium.com/@user (www.youtube.com/@user)'],
  ['letters of other scripts before it', 'ж@user'],
];

describe('mentions', () => {
  it.each(telegram)('[M05] are neutralized on Telegram: %s', (_, markdown, shown) => {
    expect(show(markdown, 'telegram')).toBe(shown);
  });

  it.each(untouched)('are kept unchanged on Telegram: %s', (_, markdown, shown = markdown) => {
    expect(show(markdown, 'telegram')).toBe(shown);
  });

  it('[M05] are neutralized in text that only looks like a URL', () => {
    expect(show('x.y/@user a@e.com/@user', 'telegram')).toBe('x.y/@·user a@e.com/@·user');
  });

  it('[M05] are neutralized in the plain fallback, including in code', () => {
    const target = { dialect: 'telegram', maxLength: 4096, unit: 'utf16' } as const;
    const markdown = '`@ada` `@`ada https://e.org/@ada\n```\n@ada\n```';
    const dead = '@\u200bada @\u200bada https://e.org/@ada\n@\u200bada';
    expect(render(markdown, target)[0]?.plain).toBe(dead);
    expect(render(markdown, { ...target, mentions: 'live' })[0]?.plain).not.toContain('\u200b');
  });

  it('[M05] cannot notify everyone on Discord, whatever marks or letters surround them', () => {
    expect(show('@everyone a@here @**everyone** @ada `@here`', 'discord')).toBe(
      '@·everyone a@·here @·everyone @ada @here',
    );
  });

  it('[M05] cannot notify everyone on Discord from a URL behind a link text', () => {
    const target = { dialect: 'discord', maxLength: 2000, unit: 'utf16' } as const;
    const [part] = render('[a](https://e.org/@everyone?b=@ada)', target);
    expect(part?.text).toBe('[a](https://e.org/%40everyone?b=@ada)');
  });

  it.each<Dialect>(['telegram', 'discord'])(
    '[M05] are neutralized in code when there is too little space for code: %s',
    (dialect) => {
      const target = { dialect, maxLength: 16, unit: 'utf16' } as const;
      const parts = render('- - - > ```\n      > @everyone', target);
      expect(parts.map(({ text }) => text).join('')).toContain('@\u200bever');
    },
  );

  it.each<Dialect>(['telegram', 'discord'])(
    '[M05] stay live when the settings allow it: %s',
    (to) => {
      expect(show('@everyone @ada', to, 'live')).toBe('@everyone @ada');
    },
  );

  it.each<Dialect>(['whatsapp', 'google-chat', 'teams', 'plain', 'html'])(
    'have no meaning on %s',
    (dialect) => {
      expect(show('@everyone @ada', dialect)).toBe('@everyone @ada');
    },
  );
});
