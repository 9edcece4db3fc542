import { getTypedText, type InboundMessage } from '@parley/core';

const MAX_CHARACTERS = 60;
/**
 * Matches lines of USER.md that name a language. The language for answers takes precedence over the
 * languages that the owner knows.
 */
const IN_PROFILE: readonly RegExp[] = [
  /^[^\p{L}\n]*(?:(?:preferred )?(?:response|reply|answer) language|preferred language|bevorzugte sprache|antwortsprache|(?:首选|偏好|回复)语言)[^\p{L}\n:：]*[:：][^\p{L}\n]*(\p{L}[^\n]*)$/imu,
  /^[^\p{L}\n]*(?:languages?|sprachen?|语言)[^\p{L}\n:：]*[:：][^\p{L}\n]*(\p{L}[^\n]*)$/imu,
];

/** Returns the owner's language as stated in USER.md. */
export function findProfileLanguage(text: string): string | undefined {
  const found = IN_PROFILE.map((line) => line.exec(text)).find((match) => match !== null);
  const said = found?.[1]?.replace(/[*_`#<>]/g, '').trim();
  return said === undefined || said === ''
    ? undefined
    : said.slice(0, MAX_CHARACTERS).toWellFormed();
}

/** Returns the text that people typed themselves. */
export function listTypedTexts(messages: readonly InboundMessage[]): readonly string[] {
  return messages.map(getTypedText).filter((text) => text !== '');
}
