/** Whether people would see anything of this text: not of white space and zero-width characters. */
export function hasVisible(text: string): boolean {
  return /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(text);
}
