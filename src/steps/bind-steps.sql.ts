/** As a part of a statement that has a part `moved (run_id, assigned)`: binds the steps of each role to the first of its nodes. */
export const BIND_STEPS = `/* steps.bind */
  UPDATE steps s SET node_id = role.value->'nodes'->0->>'node_id'
    FROM moved, json_array_elements(moved.assigned) AS role
   WHERE s.run_id = moved.run_id AND s.uses = role.value->>'as'`;
