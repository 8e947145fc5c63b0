/** Whether this principal is asked. Nobody is named: anybody who may submit; otherwise those who are; an operator who is not named may not. */
export function mayAnswer(answerers: readonly string[] | null, principal: string): boolean {
  return answerers === null || answerers.includes(principal);
}
