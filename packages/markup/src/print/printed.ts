/** A printed part and what the platform counts about it. */
export interface Printed {
  /** In the dialect. */
  readonly text: string;
  /** What the length limit applies to: `text` itself, or only what people see of it. */
  readonly counted: string;
  /** Formatted stretches. */
  readonly entities: number;
}
