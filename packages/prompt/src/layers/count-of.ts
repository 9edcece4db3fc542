/** `1 tool`, `3 tools`: for the account of a prompt that people read. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
