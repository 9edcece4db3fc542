import { sourceText } from '../parse/source-text.ts';

/** Brings text to the form the parser reads, however it was cut on its way. */
export type Normalise = (text: string) => string;

/** What cannot be understood without the next character: half a surrogate pair, half a line end. */
const HALF = /[\r\ud800-\udbff]$/;

/**
 * Makes a normaliser for one text that comes bit by bit: line ends as `\n`, well-formed, no byte order
 * mark. What is half at the end waits for the other half.
 */
export function createNormaliser(): Normalise {
  let waiting = '';
  let isStart = true;
  return (text) => {
    let whole = waiting + text;
    if (whole === '') return '';
    if (isStart && whole.startsWith('\ufeff')) whole = whole.slice(1);
    isStart = false;
    const end = HALF.test(whole) ? whole.length - 1 : whole.length;
    waiting = whole.slice(end);
    return sourceText(whole.slice(0, end));
  };
}
