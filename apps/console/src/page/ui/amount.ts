/** A number as the reader writes it, `1,051` or `1.051`. */
export function amount(number: number): string {
  return number.toLocaleString();
}

/** A share from 0 to 1 in percent; never 100 for less than all. */
export function percent(share: number): string {
  const rounded = share < 1 ? Math.min(Math.round(share * 1_000) / 10, 99.9) : 100;
  return `${rounded.toLocaleString()} %`;
}
