import { trimCopiedId } from './channel-ids.ts';

const NUMBER = /^[1-9]\d{6,14}$/;
/**
 * Numbers that cannot exist. Numbers with the country codes 1 and 7 have eleven digits; no country
 * has the code 89, and in a number that begins with 89, the 8 is what people in Russia dial first.
 */
const NO_NUMBER = /^(?:[17](?!\d{10}$)|89\d{9}$)/;
/**
 * Countries whose numbers begin with a 0 only when dialed domestically; in Italy and some other
 * countries the 0 is part of the number.
 */
const HOME_ZERO = new RegExp(
  `^(${[
    '20|27|31|32|33|40|41|43|44|46|49|60|61|62|63|64|66|81|82|84|86|90|91|92|93|94|95|98',
    '212|213|234|254|255|256|353|355|358|359|380|381|385|386|387|389|421|880',
    '961|962|963|964|966|967|970|971|972|977',
  ].join('|')})0(?=[1-9])`,
);

/**
 * The digits of a phone number with its country code, in whatever form people write it, such as a
 * WhatsApp link; undefined when it is not a number.
 */
export function findPhoneNumber(written: string): string | undefined {
  const bare = trimCopiedId(written).replace(/^(?:tel:|@)/i, '');
  const linked =
    /^(?:(?:https?:\/\/)?(?:wa\.me\/|(?:api|web)\.whatsapp\.com\/send\/?\?phone=)|(?:whatsapp:)?\/\/send\/?\?phone=)([+%\dB]+)/i.exec(
      bare,
    );
  const named = /^\+?(\d+)(?:_\d+)?(?::\d+)?@(?:s\.whatsapp\.net|c\.us|hosted)$/i.exec(bare);
  const text = linked?.[1]?.replace(/^%2B/i, '+') ?? named?.[1] ?? bare;
  const digits = text
    .replace(/\(0\)/, '')
    .replaceAll(/[()[\]./·•_-]/g, '')
    .replace(/^\+/, '')
    .replace(/^00/, '')
    .replace(HOME_ZERO, '$1');
  if (text.startsWith('-')) return undefined;
  return NUMBER.test(digits) && !NO_NUMBER.test(digits) ? digits : undefined;
}

/** Explains what is wrong with the digits of a phone number; undefined for any other problem. */
export function explainPhoneNumber(written: string): string | undefined {
  const bare = trimCopiedId(written);
  if (/^\(?0[1-9]/.test(bare)) return 'the country code is missing';
  const digits = bare.replaceAll(/\D/g, '');
  if (!NO_NUMBER.test(digits) || /\p{L}/u.test(bare)) return undefined;
  return digits.startsWith('8')
    ? 'the 8 is only dialed inside the country, and stands for the country code 7'
    : 'the country code or a digit is missing: numbers with 1 or 7 have eleven digits';
}
