import { triggerIn } from '../memory/trigger-words.ts';

/** Words for what somebody wants, in the languages in which memories are asked for. */
const WISHES: readonly RegExp[] = [
  /\b(?:always|never|prefers?|preferences?|likes?|dislikes?|loves?|hates?|insists?|from now on|make sure)\b/i,
  /\b(?:remember|must|should|shall|don'?t|do not)\b/i,
  /(?<!\p{L})(?:immer|nie|niemals|bevorzugt|mag|liebt|hasst|merk|merke|ab jetzt|künftig|soll|sollst|sollen|muss|musst)(?!\p{L})/iu,
  /记住|喜欢|偏好|以后|总是|从不|不要|必须|务必|一定要/u,
];

/**
 * Whether a line tells what somebody likes or wants to be done. These exist in the words of the person
 * alone (G13): upkeep neither makes one of a note nor takes one away. Rather one too many than one too few.
 */
export function isWishOrRule(line: string): boolean {
  const text = line.normalize('NFC').replace(/[’‘]/g, "'");
  return triggerIn(text) !== null || WISHES.some((wish) => wish.test(text));
}
