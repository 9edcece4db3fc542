import { ParleyError } from '@parley/contracts';

/** Thrown for a target that no text can be printed for; never because of the Markdown. */
export class MarkupError extends ParleyError {}
