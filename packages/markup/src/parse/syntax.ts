import type { Options } from 'mdast-util-from-markdown';

/** New syntax for the parser: its constructs, by where they may stand and the code they begin with. */
export type SyntaxExtension = Exclude<
  NonNullable<Options['extensions']>[number],
  readonly unknown[]
>;
/** What such syntax becomes in the tree. */
export type TreeExtension = Exclude<
  NonNullable<Options['mdastExtensions']>[number],
  readonly unknown[]
>;
/** One piece of syntax: a state machine that reads character codes. */
export type Construct = Exclude<
  NonNullable<NonNullable<SyntaxExtension['text']>[string]>,
  readonly unknown[]
>;
export type Tokenizer = Construct['tokenize'];
/** What a state machine knows of the text around it. */
export type Context = ThisParameterType<Tokenizer>;
export type Effects = Parameters<Tokenizer>[0];
export type Next = Parameters<Tokenizer>[1];
/** A UTF-16 unit; negative for tabs and line ends, null at the end. */
export type Code = Parameters<Next>[0];

/** Whether the code ends a line or the text. */
export function endsLine(code: Code): code is null | -5 | -4 | -3 {
  return code === null || (code < -2 && code > -6);
}
