import { GoogleChatFormatConverter } from '@chat-adapter/gchat';
import { SlackFormatConverter } from '@chat-adapter/slack';
import { TeamsFormatConverter } from '@chat-adapter/teams';
import { splitMessage } from '@chat-adapter/whatsapp';
import { toLiteralMarkdown } from '@parley/core';
import { type PrintedTarget, render } from '@parley/markup';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutatedMarkdown, sampleDocument } from './markdown-arbitrary.ts';
import { RUN_LENGTH, TIMEOUT } from './markup/run-length.ts';

/** The text that Chat SDK adapters send for a message `{ raw: text }`. */
const ARRIVES: readonly (readonly [PrintedTarget, (text: string) => unknown])[] = [
  [
    { dialect: 'slack', maxLength: 4_000, unit: 'utf16' },
    (raw) => new SlackFormatConverter().toSlackPayload({ raw }),
  ],
  [
    { dialect: 'teams', maxLength: 12_000, unit: 'utf16' },
    (raw) => ({ text: new TeamsFormatConverter().renderPostable({ raw }) }),
  ],
  [
    { dialect: 'google-chat', maxLength: 30_000, unit: 'byte' },
    (raw) => ({ text: new GoogleChatFormatConverter().renderPostable({ raw }) }),
  ],
  [
    { dialect: 'whatsapp', maxLength: 4_096, unit: 'utf16' },
    (raw) => ({ text: splitMessage(raw).join('⏎') }),
  ],
];

/** Text that would become a mention on some platform, in every position. */
const MENTIONS = [
  '@ada',
  '@a',
  '<@U123>',
  '<!channel>',
  '<users/all>',
  '<!subteam^S1|x>',
  '@org/x',
];
const attack = fc
  .tuple(
    fc.constantFrom(...MENTIONS),
    fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => toLiteralMarkdown(text),
      (text) => `\`${text}\``,
      // Slack does not have marks for this code, which becomes text.
      (text) => `中\`${text}\`文`,
      (text) => `\`\`${text} \` ${text}\`\``,
      (text) => `\\\` \`${text}\` \\\``,
      (text) => `\`\`\`\n${text}\n\`\`\``,
      (text) => `\`\`\`\n\`\n${text} \`\`\n\`\`\``,
      (text) => `**${text}**`,
      (text) => `@**${text.slice(1)}**`,
      (text) => `\`a\`${text}\`b\``,
      (text) => `[${text}](https://e.org)`,
      (text) => `[a](https://e.org/${text})`,
      (text) => `[a](<${text.replaceAll(/[<>]/g, '')}>)`,
      (text) => `[^${text.replaceAll(' ', '')}]: b`,
      (text) => `|${text.replaceAll('|', '\\|')}|\n|-|\n|${text.replaceAll('|', '\\|')}|`,
      (text) => `# ${text}\n- ${text}\n> ${text}`,
    ),
  )
  .map(([text, place]) => place(text));
const markdown = fc
  .array(
    fc.oneof(
      attack,
      mutatedMarkdown,
      sampleDocument.map((sample) => sample.markdown),
    ),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((pieces) => pieces.join('\n\n'));

describe('the text of a message part', () => {
  it.each(ARRIVES)(
    '[M01] [M05] is sent unchanged by the adapter for $dialect, without creating a mention',
    (target, send) => {
      fc.assert(
        fc.property(markdown, (source) => {
          for (const { text } of render(source, target)) expect(send(text)).toEqual({ text });
        }),
        RUN_LENGTH,
      );
    },
    TIMEOUT,
  );

  it('[M04] [M05] does not notify anyone in the plain fallback either', () => {
    fc.assert(
      fc.property(markdown, fc.constantFrom(...ARRIVES), (source, [target, send]) => {
        for (const { plain } of render(source, target)) {
          expect(send(plain)).toEqual({ text: plain });
          if (target.dialect === 'slack') expect(plain).not.toMatch(/<(?:@|!(?:channel|subteam))/);
          if (target.dialect === 'google-chat') expect(plain).not.toMatch(/<users\//i);
        }
      }),
      RUN_LENGTH,
    );
  });
});
